// The binary interface of DLPack 1.x, as much as PyTorch's tensors are given
// and taken by: https://dmlc.github.io/dlpack/latest/c_api.html. The plain
// tensor is nanobind's.
#pragma once

#include <nanobind/ndarray.h>

#include <cstdint>

namespace fxjit::python::dlpack {

using Tensor = nanobind::dlpack::dltensor;

struct Version {
  uint32_t major = 1;
  uint32_t minor = 0;
};

// A tensor whose memory its taker gives back by `deleter`.
struct ManagedTensor {
  Version version;
  void* manager_ctx = nullptr;
  void (*deleter)(ManagedTensor* self) = nullptr;
  uint64_t flags = 0;
  Tensor tensor;
};

// What a type's attribute __dlpack_c_exchange_api__ holds in a capsule named
// "dlpack_exchange_api". Functions return 0, or -1 with a Python error set.
struct ExchangeApi {
  Version version;
  ExchangeApi* previous = nullptr;
  void* allocate = nullptr;
  int (*from_object)(void* object, ManagedTensor** out) = nullptr;
  int (*to_object)(ManagedTensor* tensor, void** out) = nullptr;
  // The object keeps sizes, strides and memory; may be null.
  int (*view_object)(void* object, Tensor* out) = nullptr;
  void* current_stream = nullptr;
};

}  // namespace fxjit::python::dlpack
