// Regions around images that get other sizes to steps.
#include <algorithm>

#include "src/passes/lowering/internal_ops.h"
#include "src/program/planning/builder.h"
#include "src/program/planning/region_body.h"
#include "src/program/tiles/operands.h"
#include "src/support/machine/vector_lanes.h"

namespace fxjit::program {
namespace {

// A table's operands; none for a None.
class Table {
 public:
  Table(const RegionCall& call, const fx::Node& node, size_t argument,
        std::vector<OperandRef>& refs) {
    if (node.arg(argument).is_none()) return;
    const Placed& places = call.inputs.at(node.arg_node(argument));
    refs.push_back(places.ref());
    places_ = places.constant;
    has_weights_ = !node.arg(argument + 1).is_none();
    if (has_weights_)
      refs.push_back(call.inputs.at(node.arg_node(argument + 1)).ref());
  }

  bool has_weights() const { return has_weights_; }
  int64_t taps() const { return places_.defined() ? places_.size(0) : Size(0); }

  // The most elements from the first to the last that all taps of one place
  // read.
  int64_t span() const {
    int64_t most = 1;
    for (int64_t i = 0; i < places_.size(1); ++i) {
      int64_t least = at(0, i), last = least;
      for (int64_t tap = 1; tap < taps(); ++tap) {
        least = std::min(least, at(tap, i));
        last = std::max(last, at(tap, i));
      }
      most = std::max(most, last - least + 1);
    }
    return most;
  }

  // How many neighbours each of `from` elements is, if all are as many and
  // there are neither weights nor other taps; else 1.
  int64_t factor(int64_t from) const {
    if (taps() != 1 || has_weights_ || from == 0) return 1;
    const int64_t size = places_.size(1), each = size / from;
    if (each < 2 || each * from != size) return 1;
    for (int64_t i = 0; i < size; ++i)
      if (at(0, i) != i / each) return 1;
    return each;
  }

  // What span() is of one tap of a vector of places; the last vector overlaps
  // the one before.
  int64_t span_of_vectors(int64_t lanes) const {
    const int64_t size = taps() == 0 ? Size(0) : places_.size(1);
    int64_t most = 1;
    for (int64_t tap = 0; tap < taps() && size >= lanes; ++tap)
      for (int64_t i = 0; i < size; i += lanes) {
        const int64_t first = std::min(i, size - lanes);
        const int32_t* row = places_.data_as<int32_t>() + tap * size + first;
        const auto [least, last] = std::minmax_element(row, row + lanes);
        most = std::max<int64_t>(most, *last - *least + 1);
      }
    return most;
  }

 private:
  int64_t at(int64_t tap, int64_t place) const {
    return places_.data_as<int32_t>()[tap * places_.size(1) + place];
  }

  Tensor places_;
  bool has_weights_ = false;
};

}  // namespace

bool plan_resampling(PlanBuilder& builder, const RegionCall& call) {
  const fx::Node* node = find_call_or_null(call, passes::resample_op());
  if (!node) return false;
  const Placed& input = call.inputs.at(node->arg_node(0));
  ResampleStep step;
  step.dtype = input.val.dtype();
  step.channels_inner = node->arg(5).as_bool();
  step.sizes = {input.val.size(2), input.val.size(3)};
  step.steps = input.val.strides();
  std::vector<OperandRef> refs{input.ref()};
  const Table rows(call, *node, 1, refs), columns(call, *node, 3, refs);
  step.row_taps = rows.taps();
  step.column_taps = columns.taps();
  step.row_weights = rows.has_weights();
  step.column_weights = columns.has_weights();
  step.row_span = rows.span();
  step.column_span =
      columns.span_of_vectors(support::vector_lanes(builder.level()));
  // Rows that are made together are code of their own.
  constexpr int64_t kMostRows = 8;
  const int64_t row_factor = rows.factor(step.sizes[0]);
  if (row_factor <= kMostRows) step.row_factor = row_factor;
  step.column_factor = columns.factor(step.sizes[1]);
  const Dims& out = node->val_tensor().sizes();
  step.outer = {out[0], out[1], out[2]};
  step.inner = out[3];
  step.epilogue = bind_epilogue(call, *node, refs, step);
  builder.add_step(std::move(step), std::move(refs), call);
  return true;
}

}  // namespace fxjit::program
