// Shared state of the planner while it walks the graph: where each value lies,
// and the Program under construction. Private to src/program.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "src/passes/model_graph.h"
#include "src/program/planning/planner.h"
#include "src/program/steps/program.h"

namespace fxjit::program {

// Where a value of the graph lies. `val` gives its dtype, shape and strides;
// its first element is `byte_offset` bytes into the buffer.
struct Placed {
  int32_t buffer = -1;
  int64_t byte_offset = 0;
  Tensor val;
  // The tensor itself if the value is a constant, else undefined.
  Tensor constant;

  OperandRef ref() const { return {buffer, byte_offset}; }
};

// Where nodes of a region lie: they are few, and each is looked at.
class Places {
 public:
  void reserve(size_t count) { places_.reserve(count); }
  // A node that has no place yet.
  void add(const fx::Node& node, Placed place) {
    places_.emplace_back(&node, std::move(place));
  }
  const Placed& at(const fx::Node* node) const;
  auto begin() const { return places_.begin(); }
  auto end() const { return places_.end(); }
  size_t size() const { return places_.size(); }

 private:
  std::vector<std::pair<const fx::Node*, Placed>> places_;
};

// One region while it becomes steps: where its inputs lie, in the order of its
// placeholders, and where its results must go, in that of its output tuple.
struct RegionCall {
  const passes::Region& region;
  Places inputs;
  std::vector<const fx::Node*> result_nodes;
  std::vector<Placed> results;

  // The index of a node's value in `results`, or -1 if it is no result.
  int result_index(const fx::Node& node) const;
};

class PlanBuilder {
 public:
  // `weight_bytes`: bytes of all weights that products of few rows read, as
  // few_row_weight_bytes counts them.
  PlanBuilder(const PlanOptions& options, int64_t weight_bytes)
      : options_(options), weight_bytes_(weight_bytes) {}

  Program& program() { return plan_.program; }
  const PlanOptions& options() const { return options_; }
  CpuLevel level() const { return options_.machine.level; }
  // The tensor of a buffer of Home::constant.
  const Tensor& constant(const Buffer& buffer) const {
    return plan_.constants.tensors[static_cast<size_t>(buffer.index)];
  }
  // Adds the plan of a branch or a loop's body and returns its index in
  // Program::bodies.
  int32_t add_body(Plan body);
  Plan finish();

  // Adds a buffer and returns its index. `index` says which constant, packed
  // weight, input or output it is.
  int32_t add_buffer(Home home, int64_t bytes, size_t index = 0);
  // A new arena buffer for a value with the shape and strides of `val`.
  Placed allocate(const Tensor& val);
  Placed place_constant(const Tensor& tensor);
  // One matrix of a packed weight: a view of a constant.
  struct Piece {
    const Placed& constant;
    Tensor view;
  };
  // Packs the matrices `pieces`, side by side or, if `batched`, one for each
  // batch (weights::PackSpec::batched), and returns the operand.
  OperandRef pack(const std::vector<Piece>& pieces, bool batched = false);
  // The same for a weight that only products of `rows` rows read: the bind
  // stage may choose a narrower format that is worth it for so many.
  OperandRef pack_narrow(const std::vector<Piece>& pieces, int64_t rows);
  // Packs a convolution's weight transformed for tiles of `tile` by `tile`
  // results (weights::PackSpec::winograd_tile).
  OperandRef pack_winograd(const Placed& weight, int64_t tile);
  // Packs the filters [results, taps] of windows (weights/windows.h).
  OperandRef pack_windows(const Piece& filters, int64_t lanes);
  // The same of whole numbers of 8 bits, which stay so.
  OperandRef pack_bytes(const Placed& weight);
  // The same of codes, their scales [blocks, columns] and, if there are any,
  // zero points (weights/blocks.h).
  OperandRef pack_blocks(const std::vector<Piece>& pieces,
                         const weights::StoredCodes& codes, int64_t depth);
  // The same of a matrix of 8-bit integers for products of integers.
  // Single rows can also take what is not clipped for many.
  OperandRef pack_integers(const Placed& weight, bool single_rows);
  // The operand of a packed weight; equal ones are packed once.
  OperandRef place_packed(weights::PackSpec weight);
  void add_step(StepBody body, std::vector<OperandRef> operands,
                const RegionCall& call);
  // The same for a body that was analysed (steps.h).
  void add_analysed(support::SharedValue<StepBody> body,
                    std::vector<OperandRef> operands, const RegionCall& call);

 private:
  // The module's name of the tensor, empty if it has none.
  std::string name_of(const Tensor& constant) const;
  weights::PackSpec weight_of(const std::vector<Piece>& pieces,
                              bool batched) const;
  bool is_narrowed(int64_t bytes) const;

  const PlanOptions& options_;
  int64_t weight_bytes_;
  Plan plan_;
  std::unordered_map<const void*, int32_t> constants_;
  std::unordered_map<std::string, int32_t> packed_;  // By key_of() the weight.
};

// There is one function for each kind of region; it adds the steps of the
// region. A function that returns false adds none, and the region is left to
// eager functions.
bool plan_rows(PlanBuilder& builder, const RegionCall& call);
bool plan_columns(PlanBuilder& builder, const RegionCall& call);
void plan_contraction(PlanBuilder& builder, const RegionCall& call);
// Plans the region's Winograd convolution; false if it has none.
bool plan_winograd(PlanBuilder& builder, const RegionCall& call);
// Plans the region's window (depthwise convolution or pooling); false if it has
// none.
bool plan_window(PlanBuilder& builder, const RegionCall& call);
// Its product over planes or windows of an image, likewise.
bool plan_image_product(PlanBuilder& builder, const RegionCall& call);
// Its images that get other sizes, likewise.
bool plan_resampling(PlanBuilder& builder, const RegionCall& call);
void plan_attention(PlanBuilder& builder, const RegionCall& call);
void plan_copies(PlanBuilder& builder, const RegionCall& call);
void plan_call(PlanBuilder& builder, const RegionCall& call);
// Plans a call of a branch or a loop, and the programs of its bodies.
void plan_control(PlanBuilder& builder, const RegionCall& call,
                  const fx::Node& node);
// Plans a region that is one copy of short runs; false if no routine copies it.
bool plan_copy(PlanBuilder& builder, const RegionCall& call);
// Plans one step for each node, which calls its eager function.
void plan_eager(PlanBuilder& builder, const RegionCall& call);

// The regions' calls that may update a written input in place: they compute its
// new value from the old one, which nobody reads later.
std::unordered_set<const fx::Node*> find_updates(
    const passes::ModelGraph& model);
// Plans such an update: its result takes the place of its first argument.
void plan_update(PlanBuilder& builder, const RegionCall& call);
// Copies each new value to its written input, unless it was computed there.
void plan_write_backs(PlanBuilder& builder, std::vector<Placed> values,
                      const std::vector<Placed>& inputs);
// Copies an input before all other steps and returns where its old value is.
Placed plan_old_value(PlanBuilder& builder, const Placed& input);

// Bytes, stored as f32, of the constant matrices that products of at most
// `rows` rows read. Each matrix counts once.
int64_t few_row_weight_bytes(const passes::ModelGraph& model, int64_t rows);
// Cuts long rows of crosswise operands (rows/code.h) into equal pieces, because
// groups of whole rows would outgrow their scratch. Only steps in which nothing
// depends on a row as a whole are changed.
void cut_long_rows(RowStep& step);
// Add a step. If its rows or columns are too few for the threads, several steps
// that compute pieces of them take its place (pieces.h).
void add_rows(PlanBuilder& builder, RowStep step,
              std::vector<OperandRef> operands, const RegionCall& call);
void add_columns(PlanBuilder& builder, ColumnStep step,
                 std::vector<OperandRef> operands, const RegionCall& call);

// Lets a step's result use the arena memory of an operand that no later step
// reads.
void work_in_place(Program& program);
// Gives every arena buffer its offset.
void assign_arena(Program& program);

// The call in a region that has exactly one, else null.
const fx::Node* only_call(const passes::Region& region);

// The tensors that a call reads: as operands and, for constants of the model,
// as tensors (undefined for others).
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
