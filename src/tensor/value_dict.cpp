#include "src/tensor/value_dict.h"

namespace fxjit {
namespace {

void check_hashable(const Value& key) {
  if (key.is_list() || key.is_dict() || key.is_slice())
    throw TypeError("unhashable type: '" + std::string(key.kind_name()) + "'");
  if (key.is_tuple())
    for (const Value& item : key.as_sequence()) check_hashable(item);
}

}  // namespace

const Value* find(const ValueDict& items, const Value& key) {
  check_hashable(key);
  for (const auto& [name, value] : items)
    if (same(name, key)) return &value;
  return nullptr;
}

void put(ValueDict& items, const Value& key, const Value& value) {
  check_hashable(key);
  for (auto& [name, old] : items)
    if (same(name, key)) {
      old = value;
      return;
    }
  items.emplace_back(key, value);
}

Value dict(const ValueDict& entries) {
  ValueDict items;
  for (const auto& [key, value] : entries) put(items, key, value);
  return Value::dict(std::move(items));
}

Value::Value(std::initializer_list<DictEntry> entries) {
  ValueDict items;
  for (const DictEntry& entry : entries) put(items, entry.key, entry.value);
  *this = dict(std::move(items));
}

}  // namespace fxjit
