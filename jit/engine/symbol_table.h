// The closed set of outside symbols that generated code may call. Filled by
// whoever emits a module, read by the linker. There is no process-wide search:
// what is not here cannot be linked. A name must mean the same function for
// the whole life of the process, as compiled code is shared by key.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace fxjit::jit {

class SymbolTable {
 public:
  // Adds or replaces a function.
  template <typename Result, typename... Args>
  void add(std::string name, Result (*function)(Args...)) {
    add_address(std::move(name), reinterpret_cast<void*>(function));
  }

  // Adds or replaces any address; it must stay valid while code that refers
  // to it lives.
  void add_address(std::string name, void* address) {
    addresses_.insert_or_assign(std::move(name), address);
  }

  // Null when unknown.
  void* find(std::string_view name) const {
    const auto it = addresses_.find(name);
    return it == addresses_.end() ? nullptr : it->second;
  }

  size_t size() const { return addresses_.size(); }

 private:
  std::map<std::string, void*, std::less<>> addresses_;
};

// What LLVM itself may call from any module: memcpy and its kin, the scalar
// functions of libm, half-precision conversions, and under a sanitizer its
// runtime. Built once; every link falls back to it.
const SymbolTable& runtime_symbols();

}  // namespace fxjit::jit
