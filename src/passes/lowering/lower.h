// Lowers a normalised graph: composite ops are decomposed into scalar bodies,
// reductions and contractions, views become as_strided of the node that owns
// the memory, and every matrix product becomes one `contract`.
#pragma once

#include "src/passes/lowering/fast_halves.h"
#include "src/passes/lowering/graph_builder.h"
#include "src/passes/lowering/internal_ops.h"
#include "src/passes/model_graph.h"

namespace fxjit::passes {

struct LowerOptions {
  // Products by constants and convolutions of other half types are computed in
  // f32.
  FastHalves halves;
  // Windows of one channel each are computed over planes where the input lies
  // so, and not turned before.
  bool plane_windows = false;
  // Convolutions are sums of products of their own numbers, never of
  // transforms.
  bool direct_convolutions = false;
  // Which arithmetic makes a sum does not depend on sizes along which calls may
  // be joined.
  bool strict_sums = false;
  // Shapes and strides of the values of the result, as layouts_of_results gives
  // them; empty: those of `model`.
  std::vector<Tensor> results;
};

ModelGraph lower(const ModelGraph& model, const LowerOptions& options = {});

// For the rows of lowerings.h.
// Shape and strides of the tensor behind a proxy.
Tensor val_of(const Value& proxy);
// Calls the op of this canonical name with these leading arguments.
Value call(GraphBuilder& builder, std::string_view op, const ValueList& args);

// Whether all tensors among the arguments have this type.
bool all_of_type(const ValueList& args, DType dtype);
// All dims but the last two.
Dims leading_of(const Value& x);
// `x` with these dims in place of its leading ones.
Value expand_leading(GraphBuilder& builder, const Value& x, Dims leading);
// What a contraction can read: a copy unless the elements of the last dim lie
// side by side and the `batch_dims` leading dims and those of rows step evenly.
Value addressable(GraphBuilder& builder, const Value& input, int batch_dims);
// A copy unless the elements of the last dim lie side by side.
Value with_last_dim_dense(GraphBuilder& builder, const Value& x);

// An operand with the leading dims that it lacks and then its dims in this
// order. What is no tensor and single numbers stay as they are: they are
// promoted by other rules.
Value operand_in_order(GraphBuilder& builder, const Value& x,
                       const Dims& order);
// The other way: the dims of `x`, of which the i-th is dim order[i], or what is
// left of them, in increasing order.
Value in_logical_order(GraphBuilder& builder, const Value& x,
                       const Dims& order);
// Where a dim stands in an order.
int64_t place_in(const Dims& order, int64_t dim);

// Whether the body of an elementwise call asks where its elements lie.
bool reads_position(const ops::Op& op, const ValueList& args);

}  // namespace fxjit::passes
