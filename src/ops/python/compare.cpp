#include "src/ops/python/compare.h"

#include <algorithm>
#include <cmath>

#include "fxjit/op.h"
#include "src/ops/python/items.h"
#include "src/tensor/value_dict.h"

namespace fxjit::ops::python {
namespace {

bool has_own_comparison(const Value& value) {
  return value.is_tensor() || value.is_proxy();
}

bool equal_dicts(const ValueDict& a, const ValueDict& b) {
  if (a.size() != b.size()) return false;
  return std::ranges::all_of(a, [&](const auto& entry) {
    const Value* const other = find(b, entry.first);
    return other && equal(entry.second, *other);
  });
}

ValueList fields(const Value& slice) {
  const auto s = slice.as_slice();
  return {s.start, s.stop, s.step};
}

// Holds for a NaN in neither direction.
template <typename T>
bool in_order(Order order, const T& a, const T& b) {
  switch (order) {
    case Order::lt:
      return a < b;
    case Order::le:
      return a <= b;
    case Order::gt:
      return a > b;
    case Order::ge:
      return a >= b;
  }
  return false;
}

// -1, 0 or 1 as `i` is below, at or above `f`; exact beyond 2^53 too. `f` is no
// NaN.
int compare(int64_t i, double f) {
  if (f >= 0x1p63) return -1;
  if (f < -0x1p63) return 1;
  const double whole = std::trunc(f);
  const auto bound = static_cast<int64_t>(whole);
  if (i != bound) return i < bound ? -1 : 1;
  return f > whole ? -1 : f < whole ? 1 : 0;
}

bool ordered_numbers(Order order, const Value& a, const Value& b) {
  const bool named = a.is_named_size() || b.is_named_size();
  if (named && !a.is_float() && !b.is_float())
    return in_order(order, a.as_size(), b.as_size());
  if (a.is_float() == b.is_float())
    return a.is_float() ? in_order(order, a.as_double(), b.as_double())
                        : in_order(order, a.as_int(), b.as_int());
  if (std::isnan(a.as_double()) || std::isnan(b.as_double())) return false;
  return a.is_float() ? in_order(order, 0, compare(b.as_int(), a.as_double()))
                      : in_order(order, compare(a.as_int(), b.as_double()), 0);
}

// The first items that differ decide, then the lengths.
bool ordered_items(Order order, const ValueList& a, const ValueList& b) {
  size_t i = 0;
  while (i < a.size() && i < b.size() && equal(a[i], b[i])) ++i;
  if (i == a.size() || i == b.size())
    return in_order(order, a.size(), b.size());
  return ordered(order, a[i], b[i]);
}

// By Order.
constexpr struct {
  const char *symbol, *function;
} kOrders[] = {{"<", "_operator.lt"},
               {"<=", "_operator.le"},
               {">", "_operator.gt"},
               {">=", "_operator.ge"}};

bool range_holds(const Value::RangeView& range, int64_t item) {
  if (range.step > 0 ? item < range.start || item >= range.stop
                     : item > range.start || item <= range.stop)
    return false;
  // Distances may be larger than an int.
  const uint64_t distance =
      range.step > 0
          ? static_cast<uint64_t>(item) - static_cast<uint64_t>(range.start)
          : static_cast<uint64_t>(range.start) - static_cast<uint64_t>(item);
  const uint64_t step = range.step > 0 ? static_cast<uint64_t>(range.step)
                                       : -static_cast<uint64_t>(range.step);
  return distance % step == 0;
}

[[noreturn]] void throw_not_iterable(const Value& value) {
  throw TypeError("argument of type '" + name_of(value) + "' is not iterable");
}

}  // namespace

bool equal(const Value& a, const Value& b) {
  if (has_own_comparison(a) || has_own_comparison(b))
    return same(a, b) || static_cast<bool>(call_function(
                             get_function("_operator.eq"), {a, b}));
  if (a.kind() != b.kind()) return same(a, b);
  if (a.is_sequence())
    return std::ranges::equal(a.as_sequence(), b.as_sequence(), equal);
  if (a.is_dict()) return equal_dicts(a.as_dict(), b.as_dict());
  return same(a, b);
}

bool ordered(Order order, const Value& a, const Value& b) {
  const auto& [symbol, function] = kOrders[static_cast<size_t>(order)];
  if (has_own_comparison(a) || has_own_comparison(b))
    return static_cast<bool>(call_function(get_function(function), {a, b}));
  if (a.is_number() && b.is_number()) return ordered_numbers(order, a, b);
  if (a.kind() == b.kind()) {
    // UTF-8 sorts by characters.
    if (a.is_string()) return in_order(order, a.as_string(), b.as_string());
    if (a.is_sequence())
      return ordered_items(order, a.as_sequence(), b.as_sequence());
    if (a.is_slice()) return ordered_items(order, fields(a), fields(b));
  }
  throw TypeError("'" + std::string(symbol) +
                  "' not supported between instances of '" + name_of(a) +
                  "' and '" + name_of(b) + "'");
}

bool contains(const Value& container, const Value& item) {
  if (container.is_string()) {
    if (!item.is_string())
      throw TypeError("'in <string>' requires string as left operand, not " +
                      name_of(item));
    return container.as_string().find(item.as_string()) !=
           std::string_view::npos;
  }
  if (container.is_dict()) return find(container.as_dict(), item) != nullptr;
  if (container.is_range() && (item.is_int() || item.is_bool()))
    return range_holds(container.as_range(), item.as_int());
  if (!is_iterable(container)) throw_not_iterable(container);
  return count_of(container, item) != 0;
}

int64_t count_of(const Value& container, const Value& item) {
  if (!is_iterable(container)) throw_not_iterable(container);
  const ValueList items = iterated(container);
  return std::ranges::count_if(
      items, [&](const Value& candidate) { return equal(candidate, item); });
}

int64_t index_of(const Value& container, const Value& item) {
  if (!is_iterable(container)) throw_not_iterable(container);
  const ValueList items = iterated(container);
  for (size_t i = 0; i < items.size(); ++i)
    if (equal(items[i], item)) return static_cast<int64_t>(i);
  throw ValueError("sequence.index(x): x not in sequence");
}

}  // namespace fxjit::ops::python
