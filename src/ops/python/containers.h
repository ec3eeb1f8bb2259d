// What Python's + and * do with texts, lists and tuples, and | with dicts.
#pragma once

#include "fxjit/value.h"

namespace fxjit::ops::python {

// A text, list or tuple.
bool is_joinable(const Value& value);

// a + b; `a` is joinable. TypeError for operands of two kinds.
Value joined(const Value& a, const Value& b);
// sequence * count; `sequence` is joinable. OverflowError where no memory would
// hold the result.
Value repeated(const Value& sequence, const Value& count);
// list += more, for whatever can be iterated.
Value extended(const Value& list, const Value& more);

// a | b of dicts.
Value merged(const Value& a, const ValueDict& more);
// a |= b of a dict, for dicts and pairs.
Value updated(const Value& a, const Value& more);

}  // namespace fxjit::ops::python
