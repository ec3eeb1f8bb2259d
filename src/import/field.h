// A place in a JSON document: the value there and the way to it, for messages.
// Reading what is missing, of another kind or out of range is a UserError that
// names file, entry and field. Used by the readers of this folder.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fxjit::import {

// One JSON entry of an archive. Fields refer to it, so it stays where it is.
struct Document {
  std::string file;
  std::string entry;
  nlohmann::json root;

  // Parses `text`; UserError for what is no JSON.
  Document(std::string file, std::string entry, std::string_view text);
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;
};

class Field {
 public:
  explicit Field(const Document& document);

  [[noreturn]] void fail(const std::string& what) const;
  // "graph_module.graph.nodes[3].target"
  std::string path() const;
  // With file and entry in front.
  std::string place() const;

  // The member of an object. `at` needs it, `find` gives nothing where it is
  // absent or null. `name` must outlive the field.
  Field at(const char* name) const;
  std::optional<Field> find(const char* name) const;
  // The only member that an object has, as torch writes unions: {"as_int": 3}.
  std::pair<std::string_view, Field> variant() const;
  // JSON inside this text, as a document whose entry is this field.
  std::unique_ptr<Document> parse_text() const;
  // All members of an object, or elements of an array.
  std::vector<std::pair<std::string_view, Field>> members() const;
  std::vector<Field> items() const;

  bool is_null() const { return value_->is_null(); }
  bool is_string() const { return value_->is_string(); }
  const std::string& text() const;
  int64_t integer() const;
  // 0 or more.
  int64_t size() const;
  bool boolean() const;
  // Also the texts by which torch writes what JSON has no number for.
  double number() const;

 private:
  struct Step {
    std::string_view name;  // Null data: an element of an array.
    size_t index = 0;
  };

  Field(const Field& parent, const nlohmann::json& value, Step step);
  const nlohmann::json& object() const;

  const Document* document_;
  const nlohmann::json* value_;
  std::vector<Step> steps_;
};

}  // namespace fxjit::import
