// The table of lowerings: for each op that becomes other calls in lowered
// graphs in a way of its own, the function that makes them. Ops without a row
// are decomposed by the op table, or stay as they are.
#pragma once

#include "src/ops/eager/convolution.h"
#include "src/ops/eager/pooling.h"
#include "src/passes/lowering/graph_builder.h"

namespace fxjit::passes {

// What the call becomes; none to leave it to the op table. Arguments are bound
// and of the builder.
using LowerFn = Value(GraphBuilder& builder, const ops::Op& op,
                      const ValueList& args);
// As LowerFn, of a call that stands in the captured graph: `node` knows the
// strides that it was captured with. May change the arguments instead.
using LowerNodeFn = Value(GraphBuilder& builder, const fx::Node& node,
                          ValueList& args);

// GraphBuilder::Options::lower: what any call becomes in the lowered form, by
// memory order, by the table, or by its decomposition; none if it stays.
Value lower_call(GraphBuilder& builder, const ops::Op& op,
                 const ValueList& args, bool in_memory_order);
// The same for a node of the captured graph, before its call is made.
LowerNodeFn lower_node;

// The functions of the table.

// Products; none when the dtype has no generated code.
LowerFn lower_contraction;
// fxjit.integer_matmul by a constant matrix; none for others.
LowerFn lower_integer_matmul;
// fxjit.integer_conv of one group over two dims; none for others.
LowerFn lower_integer_conv;
// Attention; none to decompose it.
LowerFn lower_attention;
// Attention written out, as patterns found it.
LowerFn lower_written_attention;
// A convolution of f32: a product where the window is one element, a window
// where each filter has a channel of its own or, over lines, a sum of shifted
// views, else conv_last. One of half types without a kernel of its own, in f32.
// None for others.
LowerFn lower_convolution;
// Pooling of images in planes or with channels innermost; none for other calls.
LowerFn lower_pool;
// Norms of an f32 image with channels innermost; none for other calls.
LowerFn lower_group_norm;
LowerFn lower_instance_norm;
// Images to other sizes by resample_op(); none for other dims and types.
LowerFn lower_resample;
// Along inner dims; none along the first.
LowerFn lower_index_select;
// By tensors of integers; none for other calls.
LowerFn lower_index;
// By places of int32; none for other calls.
LowerFn lower_gather;
LowerFn lower_flip;

// Parts of these that have files of their own.

// linear(input, weight, bias) over a few features that lie far apart, as a sum
// of scaled planes; none for others.
Value lower_plane_sums(GraphBuilder& builder, const Value& input,
                       const Value& weight, const Value& bias);
// A product of doubles, with factors that its kernel takes: matrices, equal
// batches of them, in even steps. None where they are so.
LowerFn lower_doubles;
// A convolution over lines whose windows are runs of memory, as a product;
// `args` are input with its batch, weight, bias. None for others.
Value lower_line_windows(GraphBuilder& builder, const ops::ConvParams& params,
                         const ValueList& args);
// A convolution of one channel for each filter by window_op(), over planes or
// with channels innermost; `args` as above. None for others.
Value lower_window(GraphBuilder& builder, const ops::ConvParams& params,
                   const ValueList& args);
// Pooling by window_op(), with its batch and without places; none for others.
Value lower_pool_window(GraphBuilder& builder, const ops::PoolParams& params,
                        const Value& input);
// A 3x3 convolution of [N, C, H, W] by winograd_op() where that is less work;
// none elsewhere.
Value lower_winograd(GraphBuilder& builder, const ops::ConvParams& params,
                     const Value& input, const Value& weight);

}  // namespace fxjit::passes
