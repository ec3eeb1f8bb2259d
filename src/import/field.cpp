#include "src/import/field.h"

#include <limits>

#include "fxjit/error.h"
#include "src/io/json_text.h"

namespace fxjit::import {

using nlohmann::json;

Document::Document(std::string file, std::string entry, std::string_view text)
    : file(std::move(file)), entry(std::move(entry)) {
  io::JsonText parsed = io::read_json(text);
  const auto fail = [&](const std::string& what) {
    throw UserError("[pt2] " + this->file + ": " + this->entry + ": " + what);
  };
  if (parsed.value.is_discarded())
    fail("expected JSON of at most " + std::to_string(io::kMaxJsonDepth) +
         " levels: damaged, or none");
  if (parsed.repeated) fail(*parsed.repeated + ": named twice in one object");
  root = std::move(parsed.value);
}

Field::Field(const Document& document)
    : document_(&document), value_(&document.root) {}

Field::Field(const Field& parent, const json& value, Step step)
    : document_(parent.document_), value_(&value), steps_(parent.steps_) {
  steps_.push_back(step);
}

std::string Field::path() const {
  std::string path;
  for (const Step& step : steps_) {
    if (step.name.data()) {
      if (!path.empty()) path += '.';
      path += step.name;
    } else {
      path += '[' + std::to_string(step.index) + ']';
    }
  }
  return path;
}

std::string Field::place() const {
  const std::string own = path();
  return document_->file + ": " + document_->entry +
         (own.empty() ? "" : ": " + own);
}

void Field::fail(const std::string& what) const {
  throw UserError("[pt2] " + place() + ": " + what);
}

const json& Field::object() const {
  if (!value_->is_object()) fail("expected an object");
  return *value_;
}

Field Field::at(const char* name) const {
  const auto found = object().find(name);
  if (found == value_->end()) fail(std::string(name) + ": missing");
  return Field(*this, *found, {name});
}

std::optional<Field> Field::find(const char* name) const {
  const auto found = object().find(name);
  if (found == value_->end() || found->is_null()) return std::nullopt;
  return Field(*this, *found, {name});
}

std::pair<std::string_view, Field> Field::variant() const {
  if (!value_->is_object() || value_->size() != 1)
    fail("expected an object of one member, which says what it is");
  return members().front();
}

std::vector<std::pair<std::string_view, Field>> Field::members() const {
  std::vector<std::pair<std::string_view, Field>> members;
  members.reserve(object().size());
  for (auto it = value_->begin(); it != value_->end(); ++it)
    members.emplace_back(it.key(), Field(*this, it.value(), {it.key()}));
  return members;
}

std::vector<Field> Field::items() const {
  if (!value_->is_array()) fail("expected an array");
  std::vector<Field> items;
  items.reserve(value_->size());
  for (size_t i = 0; i < value_->size(); ++i)
    items.push_back(Field(*this, (*value_)[i], {{}, i}));
  return items;
}

const std::string& Field::text() const {
  if (!value_->is_string()) fail("expected a string");
  return value_->get_ref<const std::string&>();
}

std::unique_ptr<Document> Field::parse_text() const {
  return std::make_unique<Document>(document_->file,
                                    document_->entry + ": " + path(), text());
}

int64_t Field::integer() const {
  constexpr auto kMost =
      static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (!value_->is_number_integer() ||
      (value_->is_number_unsigned() && value_->get<uint64_t>() > kMost))
    fail("expected a whole number of 64 bits");
  return value_->get<int64_t>();
}

int64_t Field::size() const {
  const int64_t size = integer();
  if (size < 0) fail("expected 0 or more, got " + std::to_string(size));
  return size;
}

bool Field::boolean() const {
  if (!value_->is_boolean()) fail("expected true or false");
  return value_->get<bool>();
}

double Field::number() const {
  if (value_->is_number()) return value_->get<double>();
  if (value_->is_string()) {
    const std::string& name = text();
    if (name == "Infinity") return std::numeric_limits<double>::infinity();
    if (name == "-Infinity") return -std::numeric_limits<double>::infinity();
    if (name == "NaN") return std::numeric_limits<double>::quiet_NaN();
  }
  fail("expected a number");
}

}  // namespace fxjit::import
