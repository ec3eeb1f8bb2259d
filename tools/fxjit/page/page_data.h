// What a page shows, as JSON. The page's script reads it; docs/page.md
// describes it for other readers.
#pragma once

#include <nlohmann/json.hpp>

#include "tools/fxjit/page/flow.h"
#include "tools/fxjit/page/layout.h"
#include "tools/fxjit/page/measured_run.h"

namespace fxjit::command {

using nlohmann::json;

// Inputs, outputs and weights.
json model_data(const Model& model, const ValueList& inputs);
// The graph as captured, laid out. Shapes are those of a call with `inputs`.
json captured_data(const Model& model, const ValueList& inputs);
// Steps, buffers and the compiled graph, laid out.
json run_data(const MeasuredRun& run, const fx::Graph& captured);
// Kernels by symbol, their code compressed. Those that take the least time have
// none where all together would take more than `most_bytes`.
json kernel_data(const std::vector<const MeasuredRun*>& runs,
                 size_t most_bytes);
// Which steps of two runs compute the same nodes of the captured graph: a list
// of {"nodes", "a", "b", "a_us", "b_us"}, the greatest difference first. Both
// are as run_data makes them.
json comparison(const json& a, const json& b);

// {"width", "height", "boxes": [[x, y, width, height]], "wires": [[from, to,
// points]]}
json drawing_data(const Drawing& drawing);
// The width of a box with this text.
double box_width(const std::string& text);

}  // namespace fxjit::command
