// The planner: a fused ModelGraph becomes a Program. Each region is lowered to
// steps over buffers, views become operands with offsets, and buffers that live
// at different times share memory.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "src/passes/model_graph.h"
#include "src/passes/pipeline.h"
#include "src/program/steps/program.h"

namespace fxjit::program {

struct PlanOptions {
  Machine machine;
  bool strict_sums = false;  // See TileStep::strict.
  // Products are the library's where it has code for them.
  bool library_products = false;
  // Whether weights that few rows use may be kept in fewer bits: not at all,
  // where none is lost, or with less loss than the sums have.
  enum class Narrow : uint8_t { never, exact, rounded };
  Narrow narrow = Narrow::never;
  // For the bodies of branches and loops, which are planned with the program.
  passes::PipelineOptions pipeline;
  std::shared_ptr<passes::FoldedWeights> folded;
  // What the module calls its tensors.
  std::map<const Storage*, std::string> names;
};

// What the passes are told of the machine.
passes::PipelineOptions passes_for(const Machine& machine);

// The tensors behind Program::constants.
struct Constants {
  std::vector<Tensor> tensors;
  std::vector<Constants> bodies;  // As Program::bodies.
};

struct Plan {
  Program program;
  Constants constants;
};

// Equal models and options give equal programs. Throws NotImplementedError
// naming op and node when a region has no steps.
Plan plan(const passes::ModelGraph& model, const PlanOptions& options);

}  // namespace fxjit::program
