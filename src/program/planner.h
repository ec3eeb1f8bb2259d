// The planner: a fused ModelGraph becomes a Program. Each region is lowered to
// steps over buffers, views become operands with offsets, and buffers that live
// at different times share memory.
#pragma once

#include <functional>
#include <memory>

#include "fxjit/cpu_level.h"
#include "src/passes/model_graph.h"
#include "src/program/program.h"

namespace fxjit::program {

// A call that may have a kernel of its own. `args` hold meta tensors.
struct KernelRequest {
  const ops::Op& op;
  const ValueList& args;
  // One per tensor in `args`, in order of appearance; undefined unless the
  // tensor is a constant of the model.
  std::vector<Tensor> constants;
  ValueList results;  // Meta tensors.
  CpuLevel level = host_cpu_level();
};

struct PlanOptions {
  bool strict_sums = false;          // See TileStep::strict.
  CpuLevel level = CpuLevel::sse41;  // Decides the layout of packed matrices.
  // Gives the kernel of a call, or null. Its operands are the tensors of `args`
  // in order, then the results.
  std::function<std::shared_ptr<const ExternKernel>(const KernelRequest&)>
      kernels;
  // Gives a kernel to use in place of a generated contraction, with the same
  // operands, or null. Empty: contractions are always generated.
  std::function<std::shared_ptr<const ExternKernel>(const TileStep&)> products;
  // Of the second-level cache: weights of few rows that do not fit it together
  // are kept by `codings`, each of 2 MiB and more anyway.
  int64_t cache_bytes = int64_t{1} << 20;
  // Gives how to keep a weight that so few rows are multiplied with. Empty: as
  // f32.
  std::function<WeightCoding(const PackedWeight&, int64_t rows)> codings;
};

// Throws NotImplementedError naming op and node when a region has no steps.
Program plan(const passes::ModelGraph& model, const PlanOptions& options);

}  // namespace fxjit::program
