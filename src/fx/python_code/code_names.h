// Names in generated Python code. torch gives them out anew for each piece of
// code, to nodes and to the functions that the code calls; mostly all keep the
// names they have. Where one cannot, the code is written from a renamed copy.
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

// Functions of torch and of Python: they are called by their own names.
bool has_fixed_name(std::string_view qualified);
// What code calls a function that is no operator: other ones' names have "_"
// for each ".".
std::string global_hint(std::string_view qualified);

// Whether a node has a name that code cannot use beside these globals.
bool names_clash(const Graph& graph, const CodeGlobals& globals);

struct CodeNames {
  std::unique_ptr<Graph> graph;  // A copy whose nodes have their new names.
  std::unordered_map<std::string, std::string> globals;  // By their hints.
};

CodeNames rename_for_code(const Graph& graph, const CodeGlobals& reserved);

}  // namespace fxjit::fx
