// Equality of Values as Python's ==.
#include <algorithm>
#include <cmath>

#include "src/tensor/value_dict.h"

namespace fxjit {
namespace {

bool same_numbers(const Value& a, const Value& b) {
  if (a.is_named_size() || b.is_named_size())
    return !a.is_float() && !b.is_float() && a.as_size() == b.as_size();
  if (!a.is_float() && !b.is_float()) return a.as_int() == b.as_int();
  if (a.is_float() && b.is_float()) return a.as_double() == b.as_double();
  // Exact: an int beyond 2^53 must not equal the double it rounds to.
  const double f = a.is_float() ? a.as_double() : b.as_double();
  const int64_t i = a.is_float() ? b.as_int() : a.as_int();
  return f >= -0x1p63 && f < 0x1p63 && std::trunc(f) == f &&
         static_cast<int64_t>(f) == i;
}

bool same_dicts(const ValueDict& a, const ValueDict& b) {
  return a.size() == b.size() && std::ranges::all_of(a, [&](const auto& entry) {
           const Value* const other = find(b, entry.first);
           return other && same(entry.second, *other);
         });
}

int64_t range_length(const Value::RangeView& r) {
  const int64_t span = r.step > 0 ? r.stop - r.start : r.start - r.stop;
  const int64_t step = r.step > 0 ? r.step : -r.step;
  return span <= 0 ? 0 : (span + step - 1) / step;
}

bool same_ranges(const Value::RangeView& a, const Value::RangeView& b) {
  const int64_t length = range_length(a);
  if (length != range_length(b)) return false;
  return length == 0 ||
         (a.start == b.start && (length == 1 || a.step == b.step));
}

}  // namespace

bool same(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return same_numbers(a, b);
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Value::Kind::none:
    case Value::Kind::ellipsis:
      return true;
    case Value::Kind::boolean:
    case Value::Kind::integer:
    case Value::Kind::floating:
      return same_numbers(a, b);
    case Value::Kind::dtype:
      return a.as_dtype() == b.as_dtype();
    case Value::Kind::node:
      return a.as_node() == b.as_node();
    case Value::Kind::string:
      return a.as_string() == b.as_string();
    case Value::Kind::slice: {
      const auto x = a.as_slice(), y = b.as_slice();
      return same(x.start, y.start) && same(x.stop, y.stop) &&
             same(x.step, y.step);
    }
    case Value::Kind::range:
      return same_ranges(a.as_range(), b.as_range());
    case Value::Kind::tensor:
      return a.as_tensor().is(b.as_tensor());
    case Value::Kind::list:
    case Value::Kind::tuple:
      return std::ranges::equal(a.as_sequence(), b.as_sequence(), same);
    case Value::Kind::dict:
      return same_dicts(a.as_dict(), b.as_dict());
    case Value::Kind::proxy:
      return a.as_proxy() == b.as_proxy();
    case Value::Kind::opaque:
      return a.as_opaque() == b.as_opaque();
  }
  return false;
}

}  // namespace fxjit
