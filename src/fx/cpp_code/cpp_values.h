// Values and names as C++ source. Used by code generation only.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "fxjit/fx/node.h"

namespace fxjit::fx {

// "net_1" for any text: never a keyword nor a name that generated code uses.
std::string cpp_identifier(std::string_view text);
// A string literal, or a std::string where it holds a null character.
std::string cpp_string(std::string_view text);

// Distinct identifiers for the nodes of a graph.
class CppNames {
 public:
  const std::string& of(const Node& node);
  std::string unique(std::string_view wish);

 private:
  std::unordered_map<const Node*, std::string> names_;
  std::unordered_set<std::string> used_;
};

// Appends an expression of type Value, or of a type that converts to it. False,
// with `out` of no use, for tensors, proxies and opaque objects.
bool append_cpp(std::string& out, const Value& value, CppNames& names);
// As above, of type Value whatever stands there.
bool append_cpp_typed(std::string& out, const Value& value, CppNames& names);

}  // namespace fxjit::fx
