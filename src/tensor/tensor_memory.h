// The memory that a tensor sees.
#pragma once

#include <string>

#include "fxjit/tensor.h"

namespace fxjit {

// A text that is equal for views of the same memory with the same shape, even
// if they were made separately. The tensor must be defined and not meta. It is
// valid only while the memory lives, since another tensor may later lie there
// (see Tensor::keeper).
std::string memory_key(const Tensor& tensor);

// The tensor. If its numbers are deferred (made when they are read), a copy, so
// that they are not kept after this one reading.
Tensor for_one_reading(const Tensor& tensor);

// States that the memory will not be read soon. Pages of a mapped file are
// given back.
void release_pages(const Tensor& tensor);

}  // namespace fxjit
