// The committed file of an area: what torch printed and computed for each of
// its cases. README.md describes the format.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace fxjit::mirror {

struct Section {
  std::string kind;  // "graph", "error TraceError", ...
  std::string text;
};

using ExpectedCases = std::map<std::string, std::vector<Section>>;

// "GraphModule" -> "graph_module".
std::string area_of(const std::string& suite);
// The areas that have a file, sorted.
std::vector<std::string> expected_areas();
// The cases of an area. std::runtime_error when the file is missing or
// malformed.
ExpectedCases read_expected(const std::string& area);

std::vector<std::string> split_lines(const std::string& text);

}  // namespace fxjit::mirror
