// Exchanges tensors with PyTorch by the table of functions that it offers
// (DLPack's C exchange API, torch 2.10 and newer). A call takes tens of
// nanoseconds; __dlpack__ takes microseconds. All functions need the
// interpreter's lock.
#pragma once

#include <nanobind/nanobind.h>

#include "fxjit/tensor.h"
#include "python/dlpack.h"

namespace fxjit::python {

// Whether somebody has imported PyTorch.
bool is_torch_loaded();

// PyTorch's table for torch.Tensor and torch.nn.Parameter. Null for objects of
// other types, also of types derived from Tensor, which may be anything, and
// for versions of PyTorch without the table.
const dlpack::ExchangeApi* exchange_of(nanobind::handle object);

// The tensor itself or, if its memory holds other numbers than it does (lazy
// negation and conjugation), a copy.
nanobind::object resolved(nanobind::handle tensor);

// The tensor's memory and sizes. They are valid until the interpreter's lock is
// released, and the memory is kept by the object. Throws TypeError with
// PyTorch's reason for tensors without such memory (meta, sparse); `where`
// names it.
dlpack::Tensor view_of_object(const dlpack::ExchangeApi& api,
                              nanobind::handle object, const char* where);

// The offset of a tensor in its storage, in elements, and the size of the
// storage.
struct PlaceInStorage {
  int64_t offset = 0;
  size_t storage_bytes = 0;
};

PlaceInStorage place_in_storage(nanobind::handle tensor);

// A torch.Tensor over the memory of `tensor`, with the same offset in its
// storage; if a torch.Tensor owns the memory, it shares that one's storage.
// Null if PyTorch was not imported, or has no such table.
nanobind::object torch_tensor_of(const Tensor& tensor);

}  // namespace fxjit::python
