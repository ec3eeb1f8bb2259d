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
  // Whether oneDNN computes products for which it has code.
  bool library_products = false;
  // Whether weights that few rows use are stored in fewer bits: never, where no
  // number changes, or also where they lose less than sums do.
  enum class Narrow : uint8_t { never, exact, rounded };
  Narrow narrow = Narrow::never;
  // Options for the bodies of branches and loops, which are planned with the
  // program.
  passes::PipelineOptions pipeline;
  std::shared_ptr<passes::FoldedWeights> folded;
  // The module's names of its tensors, by their storage. Null: they have none.
  std::shared_ptr<const std::map<const Storage*, std::string>> names;
};

// The options of the passes that follow from the machine.
passes::PipelineOptions passes_for(const Machine& machine);

// The tensors of Program::constants, in the same order.
struct Constants {
  std::vector<Tensor> tensors;
  std::vector<Constants> bodies;  // As Program::bodies.
};

struct Plan {
  Program program;
  Constants constants;
};

// Plans a fused graph. Equal models and options give equal programs. Throws
// NotImplementedError that names op and node if a region cannot be computed by
// any step.
Plan plan(const passes::ModelGraph& model, const PlanOptions& options);

}  // namespace fxjit::program
