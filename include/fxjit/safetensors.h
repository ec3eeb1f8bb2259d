// Reading and writing .safetensors files: named tensors in one file, which is
// mapped to be read. Nothing is copied where the file's alignment allows;
// tensors keep the mapping alive.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fxjit/tensor.h"

namespace fxjit {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;
// The file's own "__metadata__": text by name.
using FileMetadata = std::map<std::string, std::string>;

// The tensors of `path` by name, in the order of their data. They are read-only
// and lie in the mapped file; a tensor whose data is not aligned for its dtype
// is copied. Throws UserError naming path, tensor and field, with expected and
// got, when the file is missing, truncated, longer than its header says, or
// malformed in any other way; peak memory then stays near the size of the
// header. `metadata`, where given, receives the file's.
NamedTensors load_safetensors(const std::string& path,
                              FileMetadata* metadata = nullptr);

// Writes `tensors` so that each lies aligned: those of wide types first, else
// in the order given. Views are written as contiguous tensors. The file appears
// whole or not at all. UserError naming path and tensor: a name given twice or
// taken by the format, a tensor without memory, a name or metadata that is not
// UTF-8, a disk that fails.
void save_safetensors(const std::string& path, const NamedTensors& tensors,
                      const FileMetadata& metadata = {});

}  // namespace fxjit
