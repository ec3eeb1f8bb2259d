#include "src/compile/environment.h"

#include <cstdlib>
#include <sstream>
#include <string_view>

#include "fxjit/log.h"

namespace fxjit {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

void set_debug_level(const std::string& text) {
  if (text.empty() || text == "0") return;
  set_log_level(text == "1" ? LogLevel::info : LogLevel::debug);
}

Environment read() {
  Environment env;
  set_debug_level(variable("FXJIT_DEBUG"));
  const std::string backend = variable("FXJIT_BACKEND");
  env.interpreter_only = backend == "interpreter";
  if (!backend.empty() && backend != "interpreter" && backend != "jit")
    log(LogLevel::warning, "FXJIT_BACKEND=" + backend +
                               ": expected interpreter or jit; ignored");
  env.dump_folder = variable("FXJIT_DUMP");
  std::stringstream names(variable("FXJIT_DISABLE"));
  for (std::string name; std::getline(names, name, ',');)
    if (!name.empty()) env.disabled.push_back(name);
  return env;
}

}  // namespace

const Environment& environment() {
  static const Environment env = read();
  return env;
}

}  // namespace fxjit
