// Arrays of Python as tensors and back, sharing their memory.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "fxjit/tensor.h"

namespace fxjit::python {

// What results are given as.
enum class ArrayKind { numpy, torch };

// How much of a PyTorch tensor's memory a tensor has: what its elements span,
// or the storage in which it lies, with its offset there. Calls that name
// places of a storage (as_strided) need the latter, which takes longer.
enum class Extent { elements, storage };

// Whether it is an array at all: has __dlpack__ or the buffer protocol.
bool is_array(nanobind::handle object);
// torch for a torch.Tensor, numpy for all others.
ArrayKind kind_of(nanobind::handle array);

// The name of its element type, "uint32"; empty where it names none.
std::string type_name_of(nanobind::handle array);

// The array's memory, which is kept until the last tensor of it is gone.
// TypeError for arrays elsewhere than in the machine's memory, for unknown
// element types and for what is not an array after all; `where` names it.
Tensor tensor_of(nanobind::handle array, const char* where,
                 Extent extent = Extent::elements);

// An array of the tensor's memory, which is kept as long as the array.
// TypeError for types that NumPy lacks (bfloat16).
nanobind::object array_of(const Tensor& tensor, ArrayKind kind);

}  // namespace fxjit::python
