// Files of weights as memory that tensors can be views of.
#pragma once

#include <memory>
#include <string>

#include "fxjit/tensor.h"

namespace fxjit::io {

// The bytes of `path`, mapped and read-only; `release_pages` gives pages back.
// As long as somebody holds the storage of a file, further calls for the same
// unchanged file return it, under whatever path. Thread-safe. Throws
// UserError.
std::shared_ptr<Storage> map_storage(const std::string& path);

}  // namespace fxjit::io
