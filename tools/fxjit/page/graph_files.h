// The compiled graph for other programs to draw.
#pragma once

#include <string>

#include "tools/fxjit/page/flow.h"
#include "tools/fxjit/page/measured_run.h"

namespace fxjit::command {

// As ONNX where the path ends in .onnx, else in Graphviz's language. UserError
// where it cannot be written.
void write_compiled_graph(const Model& model, const MeasuredRun& run,
                          const std::string& path);

// A model of ONNX with one node for each step, of the kinds of steps in the
// domain "fxjit", with sizes, times and work as attributes. It is for looking
// at: no runtime knows these nodes.
std::string onnx_text(const Flow& flow, const std::string& name);
std::string dot_text(const Flow& flow, const std::string& name);

}  // namespace fxjit::command
