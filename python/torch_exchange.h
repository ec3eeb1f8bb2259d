// PyTorch's tensors by the table of functions that it offers (DLPack's C exchange
// API, torch 2.10 and newer): tens of nanoseconds, where __dlpack__ takes
// microseconds.
#pragma once

#include <nanobind/nanobind.h>

#include "fxjit/tensor.h"
#include "python/dlpack.h"

namespace fxjit::python {

// Whether somebody has imported PyTorch.
bool is_torch_loaded();

// The table of torch.Tensor and torch.nn.Parameter; null for objects of other
// types (also those derived from Tensor, which may be anything) and for versions
// of PyTorch without it. Needs the interpreter's lock, as all here.
const dlpack::ExchangeApi* exchange_of(nanobind::handle object);

// The object itself, or a copy where its memory has other numbers than it: those
// of lazy negations and conjugations.
nanobind::object resolved(nanobind::handle tensor);

// The tensor's memory, kept by the object, and its sizes, until the interpreter's
// lock is released. TypeError, with PyTorch's reason, for tensors without memory
// of this kind (meta, sparse); `where` names it.
dlpack::Tensor view_of_object(const dlpack::ExchangeApi& api,
                              nanobind::handle object, const char* where);

// Where a tensor begins in its storage, in elements, and the storage's size.
struct PlaceInStorage {
  int64_t offset = 0;
  size_t storage_bytes = 0;
};

PlaceInStorage place_in_storage(nanobind::handle tensor);

// A torch.Tensor with the memory of `tensor`, at the same offset in its storage:
// that of the torch.Tensor whose memory it is, if any. Null before PyTorch was
// imported and for versions without the table.
nanobind::object torch_tensor_of(const Tensor& tensor);

}  // namespace fxjit::python
