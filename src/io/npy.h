// Reading and writing NumPy's .npy files: one tensor each.
// Format:
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <string>

#include "fxjit/carried_type.h"
#include "fxjit/tensor.h"

namespace fxjit::io {

// The tensor of the file `path`, in memory of its own. Reads little-endian
// numbers and booleans, in C or in Fortran order; unsigned numbers of 16 bits
// and more come as fxjit/carried_type.h carries them. Throws a UserError that
// names file and field where the file is missing, is no .npy file, is shorter
// or longer than its header says, or holds another type. Memory stays near the
// size of the file.
Tensor load_npy(const std::string& path);

// As load_npy, from the content of a file; `path` stands in messages.
Tensor read_npy(std::string_view content, const std::string& path);

// Writes `tensor` to the file `path`, whole or not at all. bfloat16, which
// NumPy lacks, becomes float32; a tensor that carries `type` is written as that
// type. Throws RuntimeError or UserError where the disk fails.
void save_npy(const std::string& path, const Tensor& tensor,
              CarriedType type = CarriedType::none);

}  // namespace fxjit::io
