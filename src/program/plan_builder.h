// Shared state of the planner while it walks the graph: where each value lies,
// and the Program under construction. Private to src/program.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "src/passes/model_graph.h"
#include "src/program/planner.h"
#include "src/program/program.h"

namespace fxjit::program {

// A value's place: `val` gives shape and strides; the first element is at
// `byte_offset` of the buffer.
struct Placed {
  int32_t buffer = -1;
  int64_t byte_offset = 0;
  Tensor val;
  Tensor constant;  // The tensor itself when it is one, else undefined.

  OperandRef ref() const { return {buffer, byte_offset}; }
};

// One region being lowered: its graph, its inputs' places by placeholder, the
// places its results must go to, in order of the output tuple.
struct RegionCall {
  const passes::Region& region;
  std::unordered_map<const fx::Node*, Placed> inputs;
  std::vector<const fx::Node*> result_nodes;
  std::vector<Placed> results;
  std::string label;

  // Position in `results`, or -1.
  int result_index(const fx::Node& node) const;
};

class PlanBuilder {
 public:
  // `weight_bytes` of weights are read by products of few rows.
  PlanBuilder(const PlanOptions& options, int64_t weight_bytes)
      : options_(options), weight_bytes_(weight_bytes) {}

  Program& program() { return program_; }
  const PlanOptions& options() const { return options_; }

  // A new arena buffer for a value with the shape and strides of `val`.
  Placed allocate(const Tensor& val);
  Placed place_constant(const Tensor& tensor);
  // The operand of a packed weight made of `pieces`; see PackedWeight::batched.
  OperandRef pack(const std::vector<Tensor>& pieces, bool batched = false);
  // The same in the format that suits so few rows, which `format` is set to.
  OperandRef pack_for_few(const std::vector<Tensor>& pieces, int64_t rows,
                          WeightFormat& format);
  // The same of a convolution's weight, see PackedWeight::winograd_tile.
  OperandRef pack_winograd(const Tensor& weight, int64_t tile);
  void add_step(StepBody body, std::vector<OperandRef> operands,
                const RegionCall& call);

 private:
  OperandRef place_packed(PackedWeight weight);

  bool is_narrowed(int64_t bytes) const;

  const PlanOptions& options_;
  int64_t weight_bytes_;
  Program program_;
  std::unordered_map<const void*, int32_t> constants_;
  std::unordered_map<std::string, int32_t> packed_;
};

// One function per kind of region. Those that return false leave the region to
// the eager kernels.
bool plan_rows(PlanBuilder& builder, const RegionCall& call);
bool plan_columns(PlanBuilder& builder, const RegionCall& call);
void plan_contraction(PlanBuilder& builder, const RegionCall& call);
// The convolution of a contraction region, if it has one.
bool plan_winograd(PlanBuilder& builder, const RegionCall& call);
void plan_attention(PlanBuilder& builder, const RegionCall& call);
void plan_copies(PlanBuilder& builder, const RegionCall& call);
void plan_kernel(PlanBuilder& builder, const RegionCall& call);
// A region of one copy that has a kernel of its own.
bool plan_copy(PlanBuilder& builder, const RegionCall& call);
// Every node by its eager kernel, one step each.
void plan_eager(PlanBuilder& builder, const RegionCall& call);

// Calls of regions that may write a written input in place, as they compute its
// new value from the old one.
std::unordered_set<const fx::Node*> find_updates(const passes::ModelGraph& model);
// One of them: its first argument is where its result goes.
void plan_update(PlanBuilder& builder, const RegionCall& call);
// Copies the values, that are not there yet, to written inputs.
void plan_write_backs(PlanBuilder& builder, std::vector<Placed> values,
                      const std::vector<Placed>& inputs);
// A copy of an input as it is before all steps.
Placed plan_old_value(PlanBuilder& builder, const Placed& input);

// Lets results take the place of operands in the arena that end with them.
void work_in_place(Program& program, CpuLevel level);
// Gives every arena buffer its offset.
void assign_arena(Program& program);

// Bytes from the first to behind the last element.
int64_t extent_bytes(const Tensor& val);

}  // namespace fxjit::program
