// Text that lives as long as the process, each once: names of source files that
// come from files instead of from literals of the program.
#pragma once

#include <string_view>

namespace fxjit::fx {

// Thread-safe. Meant for few different texts: nothing is ever given back.
std::string_view lasting_text(std::string_view text);

}  // namespace fxjit::fx
