// Reading and writing NumPy's .npy files: one tensor each.
// Format:
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <string>

#include "fxjit/carried_type.h"
#include "fxjit/tensor.h"

namespace fxjit::io {

// The tensor of `path`, a copy. Little-endian numbers and booleans, in rows or
// in columns (Fortran order); numbers of 16 bits and more without a sign as
// fxjit/carried_type.h carries them. UserError naming file and field: no such
// file, no .npy file, truncated, longer than its header says, another type.
// Memory stays near the size of the file.
Tensor load_npy(const std::string& path);

// The same of the content of a file; `path` is for messages.
Tensor read_npy(std::string_view content, const std::string& path);

// Writes `tensor` to `path`, whole or not at all. bfloat16, which NumPy lacks,
// is written as float32, and a tensor that carries `type` as that type.
// RuntimeError or UserError where the disk fails.
void save_npy(const std::string& path, const Tensor& tensor,
              CarriedType type = CarriedType::none);

}  // namespace fxjit::io
