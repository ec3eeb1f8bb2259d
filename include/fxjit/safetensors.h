// Reading .safetensors files: named tensors in one mapped file. Nothing is copied
// where the file's alignment allows; tensors keep the mapping alive.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fxjit/tensor.h"

namespace fxjit {

// The tensors of `path` by name, in the order of their data. They are read-only
// and lie in the mapped file; a tensor whose data is not aligned for its dtype is
// copied. Throws UserError naming path, tensor and field, with expected and got,
// when the file is missing, truncated, longer than its header says, or malformed
// in any other way; peak memory then stays near the size of the header.
std::vector<std::pair<std::string, Tensor>> load_safetensors(
    const std::string& path);

}  // namespace fxjit
