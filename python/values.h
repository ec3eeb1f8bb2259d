// Arguments and results of a model: arrays in lists, tuples and dicts.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>

#include "fxjit/carried_type.h"
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
  // The type of the arrays, which tensors carry in another; others are refused.
  // none: arrays have the types of tensors.
  CarriedType type = CarriedType::none;
  bool as_bits = false;  // These arrays are not converted: they share memory.
};

// Arrays, numbers, texts, None and containers of these, and what `others`
// knows. TypeError names the argument by `where`.
Value value_of(nanobind::handle object, const std::string& where,
               Arrays& arrays, Others others = nullptr);

// Tensors as arrays of `kind`; containers as Python's. Tensors that carry
// `type` become arrays of that type.
nanobind::object object_of(const Value& value, ArrayKind kind,
                           CarriedType type = CarriedType::none);

}  // namespace fxjit::python
