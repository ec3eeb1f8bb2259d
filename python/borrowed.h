// Which of Python's objects a storage belongs to, so that a result in the
// memory of an argument becomes a view of that argument. Needs the
// interpreter's lock.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <memory>

#include "fxjit/tensor.h"

namespace fxjit::python {

// `bytes` of the owner's memory, which keep the owner.
std::shared_ptr<Storage> borrow_from(nanobind::object owner, void* data,
                                     size_t bytes);

// The owner that was given to borrow_from; null for other storages.
nanobind::handle owner_of(const Storage& storage);

}  // namespace fxjit::python
