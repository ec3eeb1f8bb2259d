// Reads the fields of one JSON object strictly: each must be there, of the
// right type, and asked for. Used by `load` only.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "fxjit/error.h"

namespace fxjit::fx::archive {

class Fields {
 public:
  // `where` stands in messages: "modules[3]".
  Fields(const nlohmann::json& object, std::string where)
      : object_(object), where_(std::move(where)) {
    if (!object.is_object()) fail("expected an object");
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw UserError("[load] " + where_ + ": " + what);
  }

  const nlohmann::json& any(const char* name) {
    const auto found = object_.find(name);
    if (found == object_.end()) fail(std::string(name) + ": missing");
    ++taken_;
    return *found;
  }
  const nlohmann::json& array(const char* name) {
    const nlohmann::json& value = any(name);
    if (!value.is_array()) fail(std::string(name) + ": expected an array");
    return value;
  }
  std::string string(const char* name) {
    const nlohmann::json& value = any(name);
    if (!value.is_string()) fail(std::string(name) + ": expected a string");
    return value.get<std::string>();
  }
  bool boolean(const char* name) {
    const nlohmann::json& value = any(name);
    if (!value.is_boolean())
      fail(std::string(name) + ": expected true or false");
    return value.get<bool>();
  }
  // A position in a table of `size` rows.
  size_t index(const char* name, size_t size) {
    return as_index(any(name), size, name);
  }
  bool has(const char* name) const { return object_.contains(name); }

  // An entry [name, position or null] of an array.
  std::string pair_name(const nlohmann::json& pair) const {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string())
      fail("expected pairs of a name and a number");
    return pair[0].get<std::string>();
  }
  size_t as_index(const nlohmann::json& value, size_t size,
                  const std::string& what) const {
    if (!value.is_number_unsigned() || value.get<uint64_t>() >= size)
      fail(what + ": expected a number below " + std::to_string(size));
    return value.get<size_t>();
  }

  // Nothing may be left: a reader that ignores fields reads them wrongly.
  void finish() const {
    if (taken_ != object_.size())
      fail("it has fields that this version does not know");
  }

 private:
  const nlohmann::json& object_;
  std::string where_;
  size_t taken_ = 0;
};

}  // namespace fxjit::fx::archive
