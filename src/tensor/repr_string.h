// Python's repr of strings, of text in UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace fxjit {

// Quoted; characters that do not print are escaped. A byte that is no UTF-8
// becomes "\udcXX", as Python keeps such bytes.
std::string repr_string(std::string_view text);

}  // namespace fxjit
