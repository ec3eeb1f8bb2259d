// Arguments and results of a model: arrays in lists, tuples and dicts.
#pragma once

#include <nanobind/nanobind.h>

#include "fxjit/value.h"
#include "python/tensors.h"

namespace fxjit::python {

// Arrays, numbers, texts, None and containers of these. `kind` becomes torch
// where an array is one. TypeError names the argument by `where`.
Value value_of(nanobind::handle object, const std::string& where,
               ArrayKind& kind);

// Tensors as arrays of `kind`; containers as Python's.
nanobind::object object_of(const Value& value, ArrayKind kind);

}  // namespace fxjit::python
