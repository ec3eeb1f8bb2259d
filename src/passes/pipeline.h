// Runs the passes in order, from a captured graph and the shapes of one call to
// a fused ModelGraph. A pass can be disabled by name if the graph is correct
// without it. After each pass the graph is verified and shown to an observer.
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

// Functions called around each pass; each may be empty. The library sets them,
// for dumps and tests; users have no option for them.
struct PassHooks {
  // Called after each pass that changed something. The result of the graph has
  // its structure again.
  std::function<void(std::string_view pass, const ModelGraph& model)> observer;
  // Called before the observer, and may change the graph. Tests plant faults
  // with it.
  std::function<void(std::string_view pass, ModelGraph& model)> alter;
};

struct PipelineOptions {
  std::vector<std::string> disabled;
  // See LowerOptions.
  FastHalves halves;
  bool plane_windows = false;        // Likewise.
  bool direct_convolutions = false;  // Likewise.
  bool strict_sums = false;          // Likewise.
  int64_t byte_speed = 1;            // Likewise.
  bool serial = false;               // One thread runs the program.
  // Set if recurrent layers may compute the product with their inputs
  // themselves.
  std::optional<RecurrentMachine> recurrent;
  PassHooks hooks;
};

// Runs all passes after normalize.
ModelGraph run_pipeline(ModelGraph normalized, const PipelineOptions& options);
ModelGraph run_pipeline(const fx::GraphModule& module,
                        std::span<const Value> inputs,
                        const PipelineOptions& options);

// The names that PipelineOptions::disabled may contain.
std::vector<std::string> optional_passes();

}  // namespace fxjit::passes
