#include "src/compile/environment.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "fxjit/log.h"
#include "src/passes/pipeline.h"

namespace fxjit {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

void set_debug_level(const std::string& text) {
  if (text.empty() || text == "0") return;
  if (text != "1" && text != "2")
    return log(LogLevel::warning,
               "FXJIT_DEBUG=" + text + ": expected 0, 1 or 2; ignored");
  set_log_level(text == "1" ? LogLevel::info : LogLevel::debug);
}

std::vector<std::string> known_passes(const std::string& list) {
  const std::vector<std::string> known = passes::optional_passes();
  std::vector<std::string> found;
  std::stringstream names(list);
  for (std::string name; std::getline(names, name, ',');) {
    if (name.empty()) continue;
    if (std::find(known.begin(), known.end(), name) != known.end())
      found.push_back(name);
    else
      log(LogLevel::warning,
          "FXJIT_DISABLE: no pass is named " + name +
              "; ignored. Passes: " + pass_names());
  }
  return found;
}

Environment read() {
  Environment env;
  set_debug_level(variable("FXJIT_DEBUG"));
  const std::string backend = variable("FXJIT_BACKEND");
  env.interpreter_only = backend == "interpreter";
  if (!backend.empty() && backend != "interpreter" && backend != "jit")
    log(LogLevel::warning, "FXJIT_BACKEND=" + backend +
                               ": expected interpreter or jit; ignored");
  const std::string interpreter = variable("FXJIT_INTERPRETER");
  env.plain_windows = interpreter == "plain" || env.interpreter_only;
  if (!interpreter.empty() && interpreter != "plain")
    log(LogLevel::warning,
        "FXJIT_INTERPRETER=" + interpreter + ": expected plain; ignored");
  env.dump_folder = variable("FXJIT_DUMP");
  env.disabled = known_passes(variable("FXJIT_DISABLE"));
  return env;
}

}  // namespace

const Environment& environment() {
  static const Environment env = read();
  return env;
}

const std::string& dump_folder(const CompileOptions& options) {
  return options.dump_folder.empty() ? environment().dump_folder
                                     : options.dump_folder;
}

std::string pass_names() {
  std::string text;
  for (const std::string& name : passes::optional_passes())
    text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace fxjit
