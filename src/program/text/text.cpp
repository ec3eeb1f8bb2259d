#include "src/program/text/text.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "src/program/text/fields.h"
#include "src/program/text/values.h"
#include "src/program/text/words.h"

namespace fxjit::program {
namespace text {
namespace {

// What the library of JSON writes and reads by itself, other enums as numbers.
template <typename T>
constexpr bool kIsPlain =
    std::is_arithmetic_v<T> || (std::is_enum_v<T> && !Worded<T>) ||
    std::is_same_v<T, std::string> || std::is_same_v<T, std::array<int32_t, 3>>;

// What an alternative is called: by the name of a skeleton, or its number.
template <typename T>
Json label_of(size_t index) {
  if constexpr (requires { T::kName; })
    return T::kName;
  else
    return index;
}

class Writer {
 public:
  template <typename T>
  static Json json(const T& part) {
    if constexpr (std::is_same_v<T, Value>) {
      return value_json(part);
    } else if constexpr (std::is_floating_point_v<T>) {
      return number_json(part);
    } else if constexpr (Worded<T>) {
      return word_of(part);
    } else if constexpr (kIsPlain<T>) {
      return part;
    } else {
      Writer writer;
      fields(part, writer);
      return std::move(writer.object_);
    }
  }
  static Json json(const Dims& dims) { return dims_json(dims); }
  template <typename T>
  static Json json(const std::vector<T>& parts) {
    Json made = Json::array();
    for (const T& part : parts) made.push_back(json(part));
    return made;
  }
  template <typename T>
  static Json json(const support::SharedValue<T>& part) {
    return json(*part);
  }
  // The alternative, then what it holds.
  template <typename... T>
  static Json json(const std::variant<T...>& parts) {
    return std::visit(
        [&](const auto& part) {
          using Part = std::remove_cvref_t<decltype(part)>;
          return Json::array({label_of<Part>(parts.index()), json(part)});
        },
        parts);
  }

  template <typename T>
  void operator()(const char* name, const T& field) {
    object_[name] = json(field);
  }

 private:
  Json object_ = Json::object();
};

class Reader {
 public:
  explicit Reader(const Json& object) : object_(object) {}

  template <typename T>
  static void read(const Json& json, T& part) {
    if constexpr (std::is_same_v<T, Value>) {
      part = value_of(json);
    } else if constexpr (std::is_floating_point_v<T>) {
      part = static_cast<T>(number_of(json));
    } else if constexpr (Worded<T>) {
      part = of_word<T>(json.get<std::string>());
    } else if constexpr (kIsPlain<T>) {
      part = json.get<T>();
    } else {
      Reader reader(json);
      fields(part, reader);
    }
  }
  static void read(const Json& json, Dims& dims) { dims = dims_of(json); }
  static void read(const Json& json, std::vector<bool>& parts) {
    parts = json.get<std::vector<bool>>();
  }
  template <typename T>
  static void read(const Json& json, std::vector<T>& parts) {
    for (const Json& item : json) read(item, parts.emplace_back());
  }
  template <typename T>
  static void read(const Json& json, support::SharedValue<T>& part) {
    read(json, part.change());
  }
  template <typename... T>
  static void read(const Json& json, std::variant<T...>& parts) {
    const Json& which = json.at(0);
    size_t next = 0;
    const bool found =
        ((label_of<T>(next++) == which &&
          (read(json.at(1), parts.template emplace<T>()), true)) ||
         ...);
    if (!found) throw UserError("a program's text: no step of this kind");
  }

  template <typename T>
  void operator()(const char* name, T& field) {
    read(object_.at(name), field);
  }

 private:
  const Json& object_;
};

// What fits a line stands on one; of other lists and objects each part begins a
// line. `indent` is that of the lines within.
std::string laid_out(const Json& json, size_t indent) {
  constexpr size_t kLineWidth = 120;
  if (!json.is_structured()) return json.dump();
  std::vector<std::string> parts;
  size_t width = indent;
  for (const auto& [name, part] : json.items()) {
    const std::string key = json.is_object() ? Json(name).dump() + ": " : "";
    parts.push_back(key + laid_out(part, indent + 1));
    width += parts.back().size() + 2;
    if (parts.back().find('\n') != std::string::npos) width += kLineWidth;
  }
  const bool fits = width <= kLineWidth;
  std::string text(1, json.is_object() ? '{' : '[');
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += fits ? ", " : ",";
    if (!fits) text += "\n" + std::string(indent, ' ');
    text += parts[i];
  }
  return text + (json.is_object() ? '}' : ']');
}

}  // namespace
}  // namespace text

std::string write_text(const Program& program) {
  try {
    return text::laid_out(text::Writer::json(program), 1) + "\n";
  } catch (const text::Json::exception& error) {  // A name that is not UTF-8.
    throw NotImplementedError(std::string("a program's text: ") + error.what());
  }
}

Program read_text(std::string_view text) {
  Program program;
  try {
    text::Reader::read(text::Json::parse(text), program);
  } catch (const text::Json::exception& error) {
    throw UserError(std::string("a program's text: ") + error.what());
  }
  return program;
}

}  // namespace fxjit::program
