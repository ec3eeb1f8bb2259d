// Statements and parameters of a graph as C++. Used by code generation only.
#pragma once

#include <string>
#include <vector>

#include "fxjit/fx/graph.h"

namespace fxjit::fx {

struct CppBody {
  std::string statements;               // Indented by two, one a line.
  std::vector<std::string> parameters;  // "Value x", in order.
  std::string signature;                // nn::ArgSpec("x"), ...
};

// `self` stands before members of the module: "" or "self.".
CppBody cpp_body(const Graph& graph, const std::string& self);

}  // namespace fxjit::fx
