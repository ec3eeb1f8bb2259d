// Files of weights as memory that tensors can be views of.
#pragma once

#include <memory>
#include <string>

#include "fxjit/tensor.h"

namespace fxjit::io {

// The bytes of the file `path`, mapped and read-only; `release_pages` gives its
// pages back to the system. As long as somebody holds the storage of a file,
// further calls for the same unchanged file return this storage, by whatever
// path they name it. Thread-safe. Throws UserError where the file cannot be
// mapped.
std::shared_ptr<Storage> map_storage(const std::string& path);

}  // namespace fxjit::io
