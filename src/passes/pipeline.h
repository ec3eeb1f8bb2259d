// The passes in order, from a captured graph and the shapes of one call to a
// fused ModelGraph. Each pass can be disabled by name where that leaves a
// correct graph, is verified after it has run, and shown to an observer.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fxjit/fx/graph_module.h"
#include "src/passes/lowering/lower.h"
#include "src/passes/model_graph.h"
#include "src/passes/patterns/join_recurrent_inputs.h"

namespace fxjit::passes {

// Functions that follow the passes as they run; each may be empty. The library
// sets them itself: no option of a user reaches them.
struct PassHooks {
  // Called after each pass that changed something, with the structure of the
  // result.
  std::function<void(std::string_view pass, const ModelGraph& model)> observer;
  // Called before it and may change the graph: tests plant faults by it.
  std::function<void(std::string_view pass, ModelGraph& model)> alter;
};

struct PipelineOptions {
  std::vector<std::string> disabled;
  // See LowerOptions.
  FastHalves halves;
  bool plane_windows = false;        // Likewise.
  bool direct_convolutions = false;  // Likewise.
  bool strict_sums = false;          // Likewise.
  bool serial = false;               // One thread runs the program.
  // Where recurrent layers may make the product with their inputs themselves;
  // none: nowhere.
  std::optional<RecurrentMachine> recurrent;
  PassHooks hooks;
};

// The passes behind normalize.
ModelGraph run_pipeline(ModelGraph normalized, const PipelineOptions& options);
ModelGraph run_pipeline(const fx::GraphModule& module,
                        std::span<const Value> inputs,
                        const PipelineOptions& options);

// Names that PipelineOptions::disabled may hold.
std::vector<std::string> optional_passes();

}  // namespace fxjit::passes
