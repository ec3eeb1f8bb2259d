#include "src/program/text/text.h"

#include <array>
#include <utility>

#include "src/program/text/fields.h"
#include "src/program/text/values.h"

namespace fxjit::program {
namespace text {
namespace {

// What the library of JSON writes and reads by itself, enums as numbers.
template <typename T>
constexpr bool kIsPlain =
    std::is_arithmetic_v<T> || std::is_enum_v<T> ||
    std::is_same_v<T, std::string> || std::is_same_v<T, std::array<int32_t, 3>>;

class Writer {
 public:
  template <typename T>
  static Json json(const T& part) {
    if constexpr (std::is_same_v<T, Value>) {
      return value_json(part);
    } else if constexpr (std::is_floating_point_v<T>) {
      return number_json(part);
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
  // The number of the alternative, then what it holds.
  template <typename... T>
  static Json json(const std::variant<T...>& parts) {
    return std::visit(
        [&](const auto& part) {
          return Json::array({parts.index(), json(part)});
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
  template <typename... T>
  static void read(const Json& json, std::variant<T...>& parts) {
    const auto which = json.at(0).get<size_t>();
    size_t next = 0;
    const bool found =
        ((next++ == which &&
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

}  // namespace
}  // namespace text

std::string write_text(const Program& program) {
  return text::Writer::json(program).dump(1);
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
