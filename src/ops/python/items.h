// Python's indexing, slicing and iteration of plain values.
#pragma once

#include <string>

#include "fxjit/value.h"

namespace fxjit::ops::python {

// The name of a value's type in messages: "list".
inline std::string name_of(const Value& value) {
  return std::string(value.kind_name());
}

// self[index] of a list, tuple, text, dict or range. An integer tensor of one
// element is an index too. IndexError, KeyError and TypeError with Python's
// texts.
Value getitem(const Value& self, const Value& index);

// len(self): characters of a text. TypeError where there is none.
int64_t length(const Value& self);

// The int that Python's operator.index gives. TypeError for what is none.
int64_t index(const Value& value);

// As torch.Size: a tuple of ints.
inline Value size_tuple(const Dims& sizes) {
  return Value::tuple(ValueList(sizes.begin(), sizes.end()));
}

bool is_iterable(const Value& value);
// What a loop over `value` gives: characters, items, keys, numbers. TypeError
// for what is not iterable.
ValueList iterated(const Value& value);

}  // namespace fxjit::ops::python
