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
  // The half types in which the machine has a fast product. Products by
  // constants and convolutions of other half types are computed in f32.
  FastHalves halves;
  // Windows over single channels (depthwise convolutions, pooling) and those of
  // one element read images in planes as they are, instead of a copy with
  // channels innermost; dense convolutions are generated.
  bool plane_windows = false;
  // No convolution is computed by Winograd's transforms, which round
  // differently.
  bool direct_convolutions = false;
  // The arithmetic of a sum must not depend on sizes along which several calls
  // may be joined into one, the batch for example.
  bool strict_sums = false;
  // How many times as many products of 8 bits as of 16 bits, which transforms
  // need, the machine makes at once. 1 where an instruction for 8 bits needs
  // others beside it.
  int64_t byte_speed = 1;
  // Shape and strides of each tensor of the result, as layouts_of_results gives
  // them. If empty, those of the results of `model` are taken.
  std::vector<Tensor> results;
};

ModelGraph lower(const ModelGraph& model, const LowerOptions& options = {});

// The functions below serve the lowerings of lowerings.h.
//
// The shape, dtype and strides of the tensor behind a proxy.
Tensor val_of(const Value& proxy);
// Calls the op of this canonical name. `args` are its first arguments; the
// others have their defaults.
Value call(GraphBuilder& builder, std::string_view op, const ValueList& args);

// Whether all tensors among the arguments have this type.
bool all_of_type(const ValueList& args, DType dtype);
// The sizes of all dims of `x` but the last two.
Dims leading_of(const Value& x);
// Expands `x` to the leading dims `leading`; its last two dims stay.
Value expand_leading(GraphBuilder& builder, const Value& x, Dims leading);
// `input`, or a copy where a contraction cannot read it. A contraction needs
// the elements of the last dim side by side, and one stride for the flattened
// `batch_dims` leading dims and one for the flattened dims of rows.
Value addressable(GraphBuilder& builder, const Value& input, int batch_dims);
// `x`, or a copy where the elements of its last dim do not lie side by side.
Value with_last_dim_dense(GraphBuilder& builder, const Value& x);

// The operand with as many dims as `order` (missing leading dims have size 1),
// permuted so that dim i of the result is dim order[i]. Numbers and tensors of
// one number without dims stay as they are, since other rules of type promotion
// hold for them.
Value operand_in_order(GraphBuilder& builder, const Value& x,
                       const Dims& order);
// Undoes `operand_in_order`: dim i of `x` is logical dim order[i], and the
// result has the logical dims in increasing order. `x` may have lost some of
// them.
Value in_logical_order(GraphBuilder& builder, const Value& x,
                       const Dims& order);
// The index at which `dim` stands in `order`.
int64_t place_in(const Dims& order, int64_t dim);

// Whether the body of an elementwise call reads the position of its elements.
bool reads_position(const ops::Op& op, const ValueList& args);

}  // namespace fxjit::passes
