// Shared state of the planner while it walks the graph: where each value lies,
// and the Program under construction. Private to src/program.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "src/passes/model_graph.h"
#include "src/program/planning/planner.h"
#include "src/program/steps/program.h"

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

  Program& program() { return plan_.program; }
  const PlanOptions& options() const { return options_; }
  CpuLevel level() const { return options_.machine.level; }
  // The tensor of a constant.
  const Tensor& constant(const Buffer& buffer) const {
    return plan_.constants.tensors[static_cast<size_t>(buffer.index)];
  }
  // Adds the plan of a body; gives its place in Program::bodies.
  int32_t add_body(Plan body);
  Plan finish() { return std::move(plan_); }

  // A new buffer, and which constant, packed weight or input it is.
  int32_t add_buffer(Home home, int64_t bytes, size_t index = 0);
  // A new arena buffer for a value with the shape and strides of `val`.
  Placed allocate(const Tensor& val);
  Placed place_constant(const Tensor& tensor);
  // A view of a constant.
  struct Piece {
    const Placed& constant;
    Tensor view;
  };
  // The operand of a packed weight made of `pieces`; see
  // weights::PackSpec::batched.
  OperandRef pack(const std::vector<Piece>& pieces, bool batched = false);
  // The same in a format that suits so few rows.
  OperandRef pack_for_few(const std::vector<Piece>& pieces, int64_t rows);
  // The same of a convolution's weight, see weights::PackSpec::winograd_tile.
  OperandRef pack_winograd(const Placed& weight, int64_t tile);
  // The same of a matrix of 8-bit integers.
  OperandRef pack_integers(const Placed& weight);
  void add_step(StepBody body, std::vector<OperandRef> operands,
                const RegionCall& call);

 private:
  weights::PackSpec weight_of(const std::vector<Piece>& pieces,
                              bool batched) const;
  OperandRef place_packed(weights::PackSpec weight);
  bool is_narrowed(int64_t bytes) const;

  const PlanOptions& options_;
  int64_t weight_bytes_;
  Plan plan_;
  std::unordered_map<const void*, int32_t> constants_;
  std::unordered_map<std::string, int32_t> packed_;  // By key_of() the weight.
};

// One function per kind of region. Those that return false leave the region to
// the eager functions.
bool plan_rows(PlanBuilder& builder, const RegionCall& call);
bool plan_columns(PlanBuilder& builder, const RegionCall& call);
void plan_contraction(PlanBuilder& builder, const RegionCall& call);
// The convolution of a contraction region, if it has one.
bool plan_winograd(PlanBuilder& builder, const RegionCall& call);
// Its window, likewise.
bool plan_window(PlanBuilder& builder, const RegionCall& call);
// Its images that get other sizes, likewise.
bool plan_resampling(PlanBuilder& builder, const RegionCall& call);
void plan_attention(PlanBuilder& builder, const RegionCall& call);
void plan_copies(PlanBuilder& builder, const RegionCall& call);
void plan_call(PlanBuilder& builder, const RegionCall& call);
// A call of a branch or a loop, with the programs of its bodies.
void plan_control(PlanBuilder& builder, const RegionCall& call,
                  const fx::Node& node);
// A region of one copy that a routine computes.
bool plan_copy(PlanBuilder& builder, const RegionCall& call);
// Every node by its eager function, one step each.
void plan_eager(PlanBuilder& builder, const RegionCall& call);

// Calls of regions that may write a written input in place, as they compute its
// new value from the old one.
std::unordered_set<const fx::Node*> find_updates(
    const passes::ModelGraph& model);
// One of them: its first argument is where its result goes.
void plan_update(PlanBuilder& builder, const RegionCall& call);
// Copies the values, that are not there yet, to written inputs.
void plan_write_backs(PlanBuilder& builder, std::vector<Placed> values,
                      const std::vector<Placed>& inputs);
// A copy of an input as it is before all steps.
Placed plan_old_value(PlanBuilder& builder, const Placed& input);

// Bytes, as f32, of the constant matrices that products of at most `rows` rows
// read, each counted once.
int64_t few_row_weight_bytes(const passes::ModelGraph& model, int64_t rows);
// Where an operand's neighbouring rows lie together, not its neighbouring
// elements, a group of rows is turned in scratch (see rows/code.h), which long
// rows outgrow. Cuts them into equal pieces where nothing depends on a row as a
// whole.
void cut_long_rows(RowStep& step);
// Adds a step or, where rows or columns are too few for the threads, some that
// do the same to pieces of them (pieces.h).
void add_rows(PlanBuilder& builder, RowStep step,
              std::vector<OperandRef> operands, const RegionCall& call);
void add_columns(PlanBuilder& builder, ColumnStep step,
                 std::vector<OperandRef> operands, const RegionCall& call);

// Lets results take the place of operands in the arena that end with them.
void work_in_place(Program& program);
// Gives every arena buffer its offset.
void assign_arena(Program& program);

// The call of a region that has one and no other, else null.
const fx::Node* only_call(const passes::Region& region);

// The tensors that a call reads, as operands and, where they are constants of
// the model, as tensors.
struct CallOperands {
  std::vector<OperandRef> refs;
  std::vector<Tensor> constants;
};
CallOperands operands_of(const fx::Node& node, const RegionCall& call);
// The tensors of a node's value, in order of appearance.
ValueList result_metas(const fx::Node& node);

// Bytes from the first to behind the last element.
int64_t extent_bytes(const Tensor& val);

}  // namespace fxjit::program
