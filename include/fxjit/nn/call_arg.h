// Argument of a module call as user code writes it, `m(x, kw("mask", y))`. It
// remembers the line of the call for errors and traces.
#pragma once

#include <concepts>
#include <initializer_list>
#include <source_location>
#include <string>
#include <utility>

#include "fxjit/error.h"
#include "fxjit/value.h"

namespace fxjit {

struct Keyword {
  std::string name;
  Value value;
};

// A keyword argument.
inline Keyword kw(std::string name, Value value) {
  return {std::move(name), std::move(value)};
}

}  // namespace fxjit

namespace fxjit::nn {

struct CallArg {
  Value value;
  std::string name;      // Empty for positional arguments.
  bool present = false;  // False for the defaults of unused parameters.
  SourceLocation source;

  CallArg() = default;
  template <typename T>
    requires std::convertible_to<T, Value>
  CallArg(T&& value,  // NOLINT: converts by intent
          std::source_location at = std::source_location::current())
      : value(std::forward<T>(value)), present(true), source(at) {}
  CallArg(Keyword keyword,  // NOLINT
          std::source_location at = std::source_location::current())
      : value(std::move(keyword.value)),
        name(std::move(keyword.name)),
        present(true),
        source(at) {}
};

// The values that are present, by position and by name. Moves them.
std::pair<ValueList, Kwargs> present_values(
    std::initializer_list<CallArg*> args);

}  // namespace fxjit::nn
