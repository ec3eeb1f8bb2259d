// The table of lowerings: for each op that becomes other calls in a way of its
// own, the function that makes these. An op without a row is decomposed by the
// op table, or stays as it is.
#pragma once

#include "src/ops/eager/convolution.h"
#include "src/ops/eager/pooling.h"
#include "src/passes/lowering/graph_builder.h"
#include "src/passes/lowering/image_way_text.h"

namespace fxjit::passes {

// Makes the calls that take the place of one call and returns their result, or
// none to leave the call to the op table. Arguments are bound, and are the
// builder's proxies or constants.
using LowerFn = Value(GraphBuilder& builder, const ops::Op& op,
                      const ValueList& args);
// The same for a call that stands in the captured graph; `node` knows the
// strides that it was captured with. The function may change the arguments and
// return none instead.
using LowerNodeFn = Value(GraphBuilder& builder, const fx::Node& node,
                          ValueList& args);

// The function for GraphBuilder::Options::lower. It lowers any call: in memory
// order, by this table, or by the op's decomposition. Returns none if the call
// stays.
Value lower_call(GraphBuilder& builder, const ops::Op& op,
                 const ValueList& args, bool in_memory_order);
// Lowers a call of the captured graph, before it is made.
LowerNodeFn lower_node;

// The functions of the table.

// Lowers products of matrices. None if there is no generated code for the
// dtype.
LowerFn lower_contraction;
// Lowers fxjit.integer_matmul by a constant matrix; none for others.
LowerFn lower_integer_matmul;
// fxjit.weight_product.
LowerFn lower_weight_product;
// fxjit.blocked_product by constants; none for others.
LowerFn lower_blocked_product;
// fxjit.integer_conv of one group over two dims; none for others.
LowerFn lower_integer_conv;
// Lowers attention; none leaves it to its decomposition.
LowerFn lower_attention;
// Lowers attention that a pattern has found written out (written_attention_op).
LowerFn lower_written_attention;
// Lowers a convolution of f32: to a product if the window is one element; to a
// window if each filter has a channel of its own (over lines to a sum of
// shifted views) or channels are few; otherwise to conv_last. A convolution of
// a half type without a kernel of its own is computed in f32. None for others.
LowerFn lower_convolution;
// Lowers pooling of images in planes or with channels innermost; none for
// others.
LowerFn lower_pool;
// Lowers norms of an f32 image with channels innermost; none for others.
LowerFn lower_group_norm;
LowerFn lower_instance_norm;
// Images to other sizes by resample_op(); none for other dims and types.
LowerFn lower_resample, lower_resize;
// Along inner dims; none along the first.
LowerFn lower_index_select;
// Lowers indexing by integer tensors; none for others.
LowerFn lower_index;
// Lowers gather with int32 indices; none for others.
LowerFn lower_gather;
LowerFn lower_flip;

// Parts of the functions above that have files of their own.

// linear(input, weight, bias) over a few features that lie far apart in memory,
// as a sum of planes times numbers; none for others.
Value lower_plane_sums(GraphBuilder& builder, const Value& input,
                       const Value& weight, const Value& bias);
// A product of f64 with its factors as the routine for it needs them: matrices,
// or equal batches of matrices, with even strides. None if they are that
// already.
LowerFn lower_doubles;
// A convolution of f32 as lower_convolution() has it. `args` are the input with
// its batch, weight and bias, a tensor or none.
Value lower_f32_convolution(GraphBuilder& builder,
                            const ops::ConvParams& params,
                            const ValueList& args);
// Whether a transposed one is no more work as convolutions of stride 1 whose
// results lie by turns, and its result by them, to [N, C_out, ...]. `args` as
// above.
bool pays_by_turns(GraphBuilder& builder, const ops::ConvParams& params,
                   const ValueList& args);
Value lower_transposed(GraphBuilder& builder, const ops::ConvParams& params,
                       const ValueList& args);
// Convolutions by the way that conv_way() chose, of input with its batch,
// weight and bias. Over lines whose windows are runs of memory, as a product.
Value lower_line_windows(GraphBuilder& builder, const ops::ConvParams& params,
                         const ValueList& args);
// By window_op(), to [N, C_out, ...]: filters of a channel of their own, or few
// channels over planes.
Value lower_window(GraphBuilder& builder, ImageWay way,
                   const ops::ConvParams& params, const ValueList& args);
// Of few channels, in groups or of a whole image, by window_op(), to results
// that are innermost.
Value lower_group_window(GraphBuilder& builder, const ops::ConvParams& params,
                         const ValueList& args);
// Windows of one element over planes, which stay planes, by plane_product_op(),
// and windows as rows of a product, by window_product_op(), to
// [N, ..., C_out]; none where weights cannot be put in order once.
Value lower_plane_product(GraphBuilder& builder, const ops::ConvParams& params,
                          const ValueList& args);
Value lower_window_product(GraphBuilder& builder, const ops::ConvParams& params,
                           const ValueList& args);
// Pooling that gives no positions, of an input with its batch, by window_op();
// none for others.
Value lower_pool_window(GraphBuilder& builder, const ops::PoolParams& params,
                        const Value& input);
// Whether a convolution is 3x3 of [N, C, H, W] and less work by winograd_op(),
// and its sums [N, H, W, C_out] by it.
bool pays_winograd(const GraphBuilder& builder, const ops::ConvParams& params,
                   const Value& weight);
Value lower_winograd(GraphBuilder& builder, const ops::ConvParams& params,
                     const Value& input, const Value& weight);
// The sums of a 3x3 convolution of stride 1 of integers of 8 bits, [N, H, W, C]
// with C dense, by a constant [O, C, 3, 3] of i8, likewise. What lies outside
// is `outside`.
Value lower_integer_winograd(GraphBuilder& builder, const Value& image,
                             const Value& weight, const Dims& before,
                             const Dims& after, int64_t outside);

}  // namespace fxjit::passes
