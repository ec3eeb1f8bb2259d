#include "fxjit/fx/meta.h"

#include <algorithm>

#include "fxjit/error.h"

namespace fxjit::fx {

const Value* Meta::find(std::string_view key) const {
  for (const auto& [name, value] : entries_)
    if (name == key) return &value;
  return nullptr;
}

const Value& Meta::at(std::string_view key) const {
  if (const Value* value = find(key)) return *value;
  throw KeyError("'" + std::string(key) + "'");
}

void Meta::set(std::string_view key, Value value) {
  for (auto& entry : entries_)
    if (entry.first == key) {
      entry.second = std::move(value);
      return;
    }
  entries_.emplace_back(std::string(key), std::move(value));
}

bool Meta::erase(std::string_view key) {
  return std::erase_if(entries_, [&](const auto& entry) {
           return entry.first == key;
         }) != 0;
}

}  // namespace fxjit::fx
