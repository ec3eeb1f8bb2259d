// Arrays of Python as tensors and back, sharing their memory.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>

#include "fxjit/tensor.h"

namespace fxjit::python {

// The kind of arrays that results are given as.
enum class ArrayKind { numpy, torch };

// How much of a PyTorch tensor's memory a tensor of fxjit has: the span of its
// elements, or the whole storage with its offset there. Calls that read places
// of a storage (as_strided) need the latter, which takes longer.
enum class Extent { elements, storage };

// Whether the object is an array: it has __dlpack__ or the buffer protocol.
bool is_array(nanobind::handle object);
// ArrayKind::torch for a torch.Tensor, numpy for all other arrays.
ArrayKind kind_of(nanobind::handle array);

// A type as NumPy names it: a text, or one of the package ml_dtypes. Throws
// TypeError where that is missing.
nanobind::object numpy_type(std::string_view name);

// The name of the array's element type, "uint32"; empty if it has none.
std::string type_name_of(nanobind::handle array);

// A tensor over the array's memory, which keeps the array until the last tensor
// of it is gone. Throws TypeError if the array is not in main memory, if its
// element type is unknown, or if the object is no array; `where` names it in
// the message.
Tensor tensor_of(nanobind::handle array, const char* where,
                 Extent extent = Extent::elements);

// An array over the tensor's memory, which keeps the memory. Throws TypeError
// for types that NumPy lacks (bfloat16).
nanobind::object array_of(const Tensor& tensor, ArrayKind kind);

}  // namespace fxjit::python
