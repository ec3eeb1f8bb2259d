// The memory that a tensor sees.
#pragma once

#include <string>

#include "fxjit/tensor.h"

namespace fxjit {

// Equal for views of the same memory with the same shape, also when they were
// made anew; of a tensor that is defined and no meta tensor. Only while the
// memory lives: later another tensor may lie there (see Tensor::keeper).
std::string memory_key(const Tensor& tensor);

// The tensor; a copy of it where its numbers are deferred, which are then not
// kept after this one reading.
Tensor for_one_reading(const Tensor& tensor);

// Says that the memory will not be read soon: a mapped file's pages go back.
void release_pages(const Tensor& tensor);

}  // namespace fxjit
