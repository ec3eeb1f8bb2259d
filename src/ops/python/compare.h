// Python's comparisons of plain values: ==, in, and the order of numbers,
// texts, sequences and slices. Tensors and proxies inside containers are
// compared by their own ==, whose result must then have a truth.
#pragma once

#include "fxjit/value.h"

namespace fxjit::ops::python {

enum class Order { lt, le, gt, ge };

bool equal(const Value& a, const Value& b);
// TypeError when the kinds have no order.
bool ordered(Order order, const Value& a, const Value& b);

// Whether `item` is an element, a key, or a part of a text.
bool contains(const Value& container, const Value& item);

// How often, and where first, `item` comes up when `container` is iterated.
int64_t count_of(const Value& container, const Value& item);
int64_t index_of(const Value& container, const Value& item);

}  // namespace fxjit::ops::python
