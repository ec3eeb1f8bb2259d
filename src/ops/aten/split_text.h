// Cuts texts of the tables at their commas.
#pragma once

#include <string_view>
#include <vector>

namespace fxjit::ops {

// At commas outside of brackets and quotes; without blanks around the parts.
std::vector<std::string_view> split_text(std::string_view text);

}  // namespace fxjit::ops
