// Tensors written out on the command line.
#pragma once

#include <string>

#include "fxjit/tensor.h"

namespace fxjit::command {

// Whether the text is one number, "16000" or "-1e-3".
bool is_number(const std::string& text);

// "[[1, 2], [3, 4]]", or one number without dims, as a tensor of int64, or of
// float32 where a number has a point or an exponent. UserError for anything but
// numbers in rows of equal length, which names the input.
Tensor parse_numbers(const std::string& text, const std::string& name);

}  // namespace fxjit::command
