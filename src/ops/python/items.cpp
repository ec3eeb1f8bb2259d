#include "src/ops/python/items.h"

#include <algorithm>

#include "src/ops/python/compare.h"
#include "src/ops/python/numbers.h"
#include "src/tensor/value_dict.h"

namespace fxjit::ops::python {
namespace {

// --- Lengths and positions. ---

bool starts_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
}

std::vector<std::string_view> characters(std::string_view text) {
  std::vector<std::string_view> result;
  for (size_t begin = 0, end = 0; begin < text.size(); begin = end) {
    end = begin + 1;
    while (end < text.size() && !starts_character(text[end])) ++end;
    result.push_back(text.substr(begin, end - begin));
  }
  return result;
}

// Bounds may be further apart than an int counts.
int64_t range_length(const Value::RangeView& range) {
  const bool up = range.step > 0;
  if (up ? range.start >= range.stop : range.start <= range.stop) return 0;
  const uint64_t low = static_cast<uint64_t>(up ? range.start : range.stop);
  const uint64_t high = static_cast<uint64_t>(up ? range.stop : range.start);
  const uint64_t step = up ? static_cast<uint64_t>(range.step)
                           : -static_cast<uint64_t>(range.step);
  const uint64_t count = (high - low - 1) / step + 1;
  if (count > static_cast<uint64_t>(INT64_MAX))
    throw OverflowError("Python int too large to convert to C ssize_t");
  return static_cast<int64_t>(count);
}

// Ints, bools and integer tensors of one element.
bool is_index(const Value& value) {
  if (value.is_int() || value.is_bool()) return true;
  return value.is_tensor() && !value.as_tensor().is_meta() &&
         value.as_tensor().numel() == 1 &&
         !is_floating(value.as_tensor().dtype());
}

int64_t index_number(const Value& value) {
  return value.is_tensor() ? value.as_tensor().to_ints().at(0) : value.as_int();
}

int64_t position(const Value& index, int64_t size, const std::string& what) {
  int64_t at = index_number(index);
  if (at < 0) at += size;
  if (at < 0 || at >= size) throw IndexError(what + " index out of range");
  return at;
}

// --- Slices. ---

struct Picks {
  int64_t start, stop, step, count;
  int64_t operator[](int64_t i) const { return start + i * step; }
};

int64_t slice_number(const Value& value) {
  if (is_index(value)) return index_number(value);
  throw TypeError(
      "slice indices must be integers or None or have an __index__ method");
}

// slice.indices(size), and how many there are.
Picks picked(const Value& slice, int64_t size) {
  const auto s = slice.as_slice();
  // Steps of more than that reach the first item only.
  const int64_t step =
      s.step.is_none() ? 1 : std::max(slice_number(s.step), -INT64_MAX);
  if (step == 0) throw ValueError("slice step cannot be zero");
  const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  const auto bound = [&](const Value& value, int64_t fallback) {
    if (value.is_none()) return fallback;
    int64_t at = slice_number(value);
    if (at < 0) at += size;
    return std::clamp(at, low, high);
  };
  const int64_t start = bound(s.start, step > 0 ? low : high);
  const int64_t stop = bound(s.stop, step > 0 ? high : low);
  return {start, stop, step, range_length({start, stop, step})};
}

Value sliced_range(const Value::RangeView& range, const Picks& picks) {
  const auto at = [&](int64_t i) {
    return add(range.start, mul(i, range.step)).as_int();
  };
  return Value::range(at(picks.start), at(picks.stop),
                      mul(range.step, picks.step).as_int());
}

Value sliced(const Value& self, const Picks& picks) {
  if (self.is_range()) return sliced_range(self.as_range(), picks);
  if (self.is_string()) {
    const auto all = characters(self.as_string());
    std::string text;
    for (int64_t i = 0; i < picks.count; ++i)
      text += all[static_cast<size_t>(picks[i])];
    return text;
  }
  ValueList items;
  for (int64_t i = 0; i < picks.count; ++i)
    items.push_back(self.at(static_cast<size_t>(picks[i])));
  return self.is_list() ? Value::list(std::move(items))
                        : Value::tuple(std::move(items));
}

// --- One item. ---

Value item_at(const Value& self, const Value& index) {
  const int64_t size = length(self);
  if (self.is_range()) {
    const auto range = self.as_range();
    return range.start + position(index, size, "range object") * range.step;
  }
  const auto at = static_cast<size_t>(
      position(index, size, self.is_string() ? "string" : name_of(self)));
  return self.is_string() ? Value(characters(self.as_string())[at])
                          : self.at(at);
}

Value value_of_key(const Value& self, const Value& key) {
  if (const Value* const value = find(self.as_dict(), key)) return *value;
  throw KeyError(repr(key));
}

[[noreturn]] void throw_no_index(const Value& self, const Value& index) {
  if (self.is_string())
    throw TypeError("string indices must be integers, not '" + name_of(index) +
                    "'");
  throw TypeError(name_of(self) + " indices must be integers or slices, not " +
                  name_of(index));
}

}  // namespace

Value getitem(const Value& self, const Value& index) {
  if (self.is_dict()) return value_of_key(self, index);
  if (!is_iterable(self))
    throw TypeError("'" + name_of(self) + "' object is not subscriptable");
  if (index.is_slice()) return sliced(self, picked(index, length(self)));
  if (!is_index(index)) throw_no_index(self, index);
  return item_at(self, index);
}

int64_t length(const Value& self) {
  if (self.is_range()) return range_length(self.as_range());
  if (self.is_string())
    return std::ranges::count_if(self.as_string(), starts_character);
  return static_cast<int64_t>(self.size());
}

int64_t index(const Value& value) {
  if (!is_index(value))
    throw TypeError("'" + name_of(value) +
                    "' object cannot be interpreted as an integer");
  return index_number(value);
}

bool is_iterable(const Value& value) {
  return value.is_sequence() || value.is_string() || value.is_dict() ||
         value.is_range();
}

ValueList iterated(const Value& value) {
  if (value.is_sequence()) return value.as_sequence();
  ValueList items;
  if (value.is_string()) {
    for (const std::string_view c : characters(value.as_string()))
      items.emplace_back(c);
  } else if (value.is_dict()) {
    for (const auto& [key, item] : value.as_dict()) items.push_back(key);
  } else if (value.is_range()) {
    const auto range = value.as_range();
    const int64_t count = range_length(range);
    for (int64_t i = 0; i < count; ++i)
      items.emplace_back(range.start + i * range.step);
  } else {
    throw TypeError("'" + name_of(value) + "' object is not iterable");
  }
  return items;
}

}  // namespace fxjit::ops::python
