// Steps as a trace in Chrome's JSON, which Perfetto opens.
#pragma once

#include <string>
#include <vector>

#include "tools/fxjit/page/measured_run.h"

namespace fxjit::command {

// One process for each run: a track of its steps one after the other with their
// median times, one of the compilation, and counters of arena bytes in use and
// of operations and bytes a second. UserError where it cannot be written.
void write_trace(const std::vector<MeasuredRun>& runs, const std::string& path);

}  // namespace fxjit::command
