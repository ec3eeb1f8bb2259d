// Chooses the names in generated Python code. torch gives out new names for
// each piece of code, to nodes and to the functions that the code calls. Mostly
// all keep the names that they have; if one cannot, the code is written from a
// copy of the graph with other names.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fxjit/fx/graph.h"

namespace fxjit::fx {

using CodeGlobals = std::vector<std::pair<std::string, std::string>>;

// Whether the function is one of torch or Python, which code calls by its own
// name.
bool has_fixed_name(std::string_view qualified);
// The name that code wants for a function that is no operator. For functions of
// others than torch and Python it has "_" in place of each ".".
std::string global_hint(std::string_view qualified);

// Whether some node has a name that one of `globals` has, too.
bool names_clash(const Graph& graph, const CodeGlobals& globals);

struct CodeNames {
  std::unique_ptr<Graph> graph;  // A copy whose nodes have their new names.
  std::unordered_map<std::string, std::string> globals;  // By their hints.
};

CodeNames rename_for_code(const Graph& graph, const CodeGlobals& reserved);

}  // namespace fxjit::fx
