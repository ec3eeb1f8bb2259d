// The types of modules that can be made from a name and their constructor's
// arguments: what files and generated code say of a layer. All layers of
// fxjit::nn are known; users add their own leaf modules:
//
//   nn::register_module_type(nn::module_type<Scale>(
//       "Scale", [](const Scale& m) -> Kwargs { return {{"by", m.by}}; },
//       [](nn::ArgumentReader& args) {
//         return Scale::create(args.floating("by"));
//       }));
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <vector>

#include "fxjit/nn/module.h"

namespace fxjit::nn {

// One constructor argument of a layer. Converts to the type of the member that
// keeps it and leaves it in `value` as that type prints: ints given for floats
// become floats, sizes a tuple. UserError naming the layer and the argument
// when it is of another type.
class Argument {
 public:
  Argument(std::string_view layer, std::string_view name, Value& value)
      : layer(layer), name(name), value(value) {}

  const std::string_view layer, name;
  Value& value;

  operator bool() const;                    // NOLINT: reads like the member
  operator int64_t() const;                 // NOLINT
  operator double() const;                  // NOLINT
  operator std::string() const;             // NOLINT
  operator Dims() const;                    // NOLINT
  operator Value() const { return value; }  // NOLINT
  // Nothing if it is None.
  template <typename T>
  std::optional<T> or_none() const {
    return value.is_none() ? std::nullopt : std::optional<T>(T(*this));
  }

  // UserError: "[Linear] argument bias: " and what is wrong.
  [[noreturn]] void fail(const std::string& what) const;

 private:
  void check(bool fits, const char* expected) const;
};

// Takes arguments by name, each once. UserError naming the type and the
// argument when it is missing, of another type, or left over.
class ArgumentReader {
 public:
  ArgumentReader(std::string_view type, const Kwargs& arguments);
  Value value(std::string_view name);
  // Takes the argument if it is None.
  bool none(std::string_view name);
  int64_t integer(std::string_view name) { return as<int64_t>(name); }
  double floating(std::string_view name) { return as<double>(name); }
  bool boolean(std::string_view name) { return as<bool>(name); }
  std::string string(std::string_view name) { return as<std::string>(name); }
  Dims dims(std::string_view name) { return as<Dims>(name); }
  void finish() const;

 private:
  template <typename T>
  T as(std::string_view name) {
    Value given = value(name);
    return Argument(type_, name, given);
  }
  Kwargs::iterator find(std::string_view name);

  std::string type_;
  Kwargs left_;
};

struct ModuleType {
  std::string name;                     // "Linear"
  std::type_index type = typeid(void);  // The C++ class, exactly.
  // Constructor arguments of a module of that class.
  std::function<Kwargs(const Module&)> arguments;
  // Files are read under SkipInit: parameters may come without memory.
  std::function<ModuleRef(ArgumentReader&)> make;
  // Set for the library's layers: nothing but registered members, so that each
  // can be replaced. `handles` are the members of the class through which
  // forward reads parameters and buffers, by registered name: who replaces one
  // replaces both. Of other types only the numbers are read and set.
  bool transparent = false;
  std::function<std::vector<std::pair<std::string, Parameter*>>(Module&)>
      handles;
};

template <typename T, typename Arguments, typename Make>
ModuleType module_type(std::string name, Arguments arguments, Make make) {
  return {std::move(name),
          typeid(T),
          [arguments](const Module& module) -> Kwargs {
            return arguments(static_cast<const T&>(module));
          },
          [make](ArgumentReader& args) -> ModuleRef { return make(args); },
          false,
          nullptr};
}

// Thread-safe. UserError when the name or the class is known already.
void register_module_type(ModuleType type);
// Null when unknown; never destroyed otherwise.
const ModuleType* find_module_type(const Module& module);
const ModuleType* find_module_type(std::string_view name);
// A new module. UserError for an unknown type, a wrong argument, and what the
// constructor throws.
ModuleRef make_module(std::string_view type, const Kwargs& arguments = {});

}  // namespace fxjit::nn
