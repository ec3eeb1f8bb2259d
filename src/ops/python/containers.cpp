#include "src/ops/python/containers.h"

#include <algorithm>
#include <string>

#include "src/ops/python/items.h"
#include "src/tensor/value_dict.h"

namespace fxjit::ops::python {
namespace {

// Sequences of more items than this do not fit any memory.
constexpr uint64_t kMostItems = uint64_t{1} << 40;

Value sequence_like(const Value& model, ValueList items) {
  return model.is_list() ? Value::list(std::move(items))
                         : Value::tuple(std::move(items));
}

}  // namespace

bool is_joinable(const Value& value) {
  return value.is_sequence() || value.is_string();
}

Value joined(const Value& a, const Value& b) {
  if (a.kind() != b.kind())
    throw TypeError("can only concatenate " + name_of(a) + " (not \"" +
                    name_of(b) + "\") to " + name_of(a));
  if (a.is_string())
    return std::string(a.as_string()) + std::string(b.as_string());
  ValueList items = a.as_sequence();
  const ValueList& tail = b.as_sequence();
  items.insert(items.end(), tail.begin(), tail.end());
  return sequence_like(a, std::move(items));
}

Value repeated(const Value& sequence, const Value& count) {
  if (!count.is_int() && !count.is_bool())
    throw TypeError("can't multiply sequence by non-int of type '" +
                    name_of(count) + "'");
  const auto times =
      static_cast<uint64_t>(std::max<int64_t>(count.as_int(), 0));
  if (sequence.size() != 0 && times > kMostItems / sequence.size())
    throw OverflowError("the repeated sequence is too long");
  const auto fill = [&](auto result, const auto& part) {
    if (part.empty()) return result;
    result.reserve(part.size() * times);
    for (uint64_t i = 0; i < times; ++i)
      result.insert(result.end(), part.begin(), part.end());
    return result;
  };
  if (sequence.is_string()) return fill(std::string(), sequence.as_string());
  return sequence_like(sequence, fill(ValueList(), sequence.as_sequence()));
}

// `a += b` of a list takes whatever can be iterated.
Value extended(const Value& list, const Value& more) {
  ValueList items = list.as_sequence();
  const ValueList tail = iterated(more);
  items.insert(items.end(), tail.begin(), tail.end());
  return Value::list(std::move(items));
}

Value merged(const Value& a, const ValueDict& more) {
  ValueDict items = a.as_dict();
  for (const auto& [key, value] : more) put(items, key, value);
  return Value::dict(std::move(items));
}

// `a |= b` of a dict takes pairs too.
Value updated(const Value& a, const Value& more) {
  if (more.is_dict()) return merged(a, more.as_dict());
  ValueDict pairs;
  for (const Value& item : iterated(more)) {
    const std::string element =
        "dictionary update sequence element #" + std::to_string(pairs.size());
    if (!is_iterable(item))
      throw TypeError("cannot convert " + element + " to a sequence");
    const ValueList pair = iterated(item);
    if (pair.size() != 2)
      throw ValueError(element + " has length " + std::to_string(pair.size()) +
                       "; 2 is required");
    pairs.emplace_back(pair[0], pair[1]);
  }
  return merged(a, pairs);
}

}  // namespace fxjit::ops::python
