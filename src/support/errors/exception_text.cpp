#include "src/support/errors/exception_text.h"

#include <cxxabi.h>

#include <cstdlib>
#include <exception>
#include <memory>
#include <typeinfo>

namespace fxjit::support {
namespace {

std::string type_name(const std::type_info& type) {
  int failed = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &failed), std::free);
  return name ? name.get() : type.name();
}

}  // namespace

std::string exception_text() {
  try {
    throw;
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    const std::type_info* type = abi::__cxa_current_exception_type();
    return "an exception of type " + (type ? type_name(*type) : "unknown");
  }
}

}  // namespace fxjit::support
