// Random graphs as files for run_random_graphs.py, which lets torch run them.
#pragma once

#include <filesystem>

#include "src/check/evaluation.h"
#include "tests/compile/graph_case.h"

namespace fxjit::testing {

using checking::Expected;
using checking::Outcome;
using checking::places;

// Writes <folder>/<seed>.json: the graph's Python code, what it is called with,
// and the numbers, bounds and shared memory that are expected. Throws UserError
// when the file cannot be written.
void export_graph(const GraphCase& c, const Expected& expected,
                  const std::filesystem::path& folder, uint32_t seed);

}  // namespace fxjit::testing
