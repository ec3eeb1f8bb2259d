// A compiled call as one graph of steps and values, without weights and other
// constants. The page draws it, and it is written for Netron and Graphviz.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fxjit/fx/graph.h"
#include "fxjit/inspection.h"

namespace fxjit::command {

struct FlowValue {
  std::string name;   // Unique among the values of the call.
  Tensor val;         // A meta tensor, of inputs; else undefined.
  int32_t step = -1;  // Which step gives it; -1: an input of the call.
  int32_t program = 0;
  int32_t buffer = -1;  // The program's; -1: the interpreter gives it.
};

struct FlowStep {
  const StepInspection* step = nullptr;
  int32_t program = 0;
  std::vector<int32_t> reads, writes;  // Values.
};

struct FlowOutput {
  std::string name;
  Tensor val;  // A meta tensor; undefined where the interpreter gives it.
  std::vector<int32_t> values;  // Several where steps write parts of it.
};

struct Flow {
  std::vector<FlowValue> values;
  std::vector<FlowStep> steps;
  std::vector<int32_t> inputs;  // Values.
  std::vector<FlowOutput> outputs;
};

// `captured` is the graph that was compiled; `output_names` has a name for each
// result of a call. `inspection` must outlive the result.
Flow flow_of(const Inspection& inspection, const fx::Graph& captured,
             const std::vector<std::string>& output_names);

}  // namespace fxjit::command
