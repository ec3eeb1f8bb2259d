// Writes graphs to a folder as the passes change them.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "src/passes/model_graph.h"

namespace fxjit {

// An observer that writes <folder>/<number>_<pass>.txt; empty without a folder.
// A file that cannot be written is reported once and then left alone.
std::function<void(std::string_view pass, const passes::ModelGraph&)>
graph_dumper(const std::string& folder);

}  // namespace fxjit
