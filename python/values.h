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

// How arrays are read, and what is found of them.
struct Arrays {
  Extent extent = Extent::elements;
  std::optional<ArrayKind> kind = std::nullopt;  // torch where one of them is.
  bool require_grad = false;                     // One of them does.
};

// Arrays, numbers, texts, None and containers of these, and what `others`
// knows. TypeError names the argument by `where`.
Value value_of(nanobind::handle object, const std::string& where,
               Arrays& arrays, Others others = nullptr);

// Tensors as arrays of `kind`; containers as Python's.
nanobind::object object_of(const Value& value, ArrayKind kind);

}  // namespace fxjit::python
