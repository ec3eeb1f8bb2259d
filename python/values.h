// Arguments and results of a model: arrays in lists, tuples and dicts.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>

#include "fxjit/value.h"
#include "python/tensors.h"

namespace fxjit::python {

// Objects of other kinds as values; nothing for those it does not know.
using Others = std::optional<Value> (*)(nanobind::handle object);

// Arrays, numbers, texts, None and containers of these, and what `others` knows.
// `kind` becomes torch where an array is one. TypeError names the argument by
// `where`.
Value value_of(nanobind::handle object, const std::string& where,
               ArrayKind& kind, Others others = nullptr);

// Tensors as arrays of `kind`; containers as Python's.
nanobind::object object_of(const Value& value, ArrayKind kind);

}  // namespace fxjit::python
