// Ops that only compiled graphs contain. They stand in the op table like any
// other, under names that no user spelling reaches, all registered together
// when the first of them is asked for.
#pragma once

#include "fxjit/fx/node.h"
#include "fxjit/op.h"
#include "src/passes/lowering/mask_kind.h"

namespace fxjit::passes {

// (input, sizes, strides, offset): a view of the input's memory, strides and
// offset in elements from the start of that memory.
const ops::Op& as_strided_op();
// (input): a contiguous copy.
const ops::Op& materialize_op();
// (input, strides): a copy in dense memory that is laid out so. Lowered graphs
// do without.
const ops::Op& layout_op();
// (input, source, strides, offset): a contiguous copy of the input, in which
// the elements that a view with these strides and offset of the copy shows are
// those of `source`.
const ops::Op& put_view_op();
// (calls, index): one tensor of a call with several results.
const ops::Op& item_op();
// (after, name, args): the random op of this name, called after the draw whose
// result `after` is, or first when it is None. The argument keeps draws in the
// order of the captured graph.
const ops::Op& draw_op();
// (spec, pred, carried, xs, operands): a call of branches or bodies (see
// control_flow.h), its results as a tuple. Lists of tensors, operands of
// numbers as well; what a kind does not have is None or empty.
const ops::Op& control_op();

// (input, weights): input [..., M, K] times the weights [K, N_i] side by side,
// f32, constants also of a half type; one weight may instead be [batch..., K,
// N]. Or both are integers, with sums of i32, which wrap: of 8 bits, the one
// weight being a constant matrix, and the input of rows may then be a window
// over an image, its last dims together being K; or of 16 bits. K is contiguous
// in the input and its other dims step uniformly within each of batch and rows.
const ops::Op& contract_op();
// (image, weight): the weight [O, C], with C contiguous, times the image [N, C,
// ...], whose places are dense: a contiguous [N, O, ...], f32.
const ops::Op& plane_product_op();
// (image, weight, taps, stride, pad_before, pad_after, dilation, output): a
// convolution of the image [N, C, ...] with C dense by a constant contiguous
// weight [taps..., C, O], to a result of the sizes `output`, which lies
// contiguous as [N, ..., O], f32.
const ops::Op& window_product_op();
// (input, weights, biases): linear layers on one input, results side by side
// along the last dim; `biases` is none or has one per weight.
const ops::Op& merged_linear_op();
// (input, weight, pad_before, pad_after, outside): a 3x3 convolution of
// stride 1 by Winograd's minimal filtering (see program/winograd/shape.h):
// input [N, H, W, C] with C contiguous, a constant weight [O, C, 3, 3], result
// a contiguous [N, OH, OW, O]. All are f32; or the input is u8 or i8, the
// weight i8, the result i32. What lies outside of the input is the number
// `outside`.
const ops::Op& winograd_op();
// (input, weight, bias, combine, taps, stride, pad_before, pad_after, dilation,
// output, channels_inner, outside, groups): a window over each channel of the
// input [N, C, ...] of f32, to a result of the sizes `output`, contiguous; with
// `channels_inner` it is [N, ..., C]. Where `taps` and what says how they lie
// have the channels as their first dim, each result is a sum over all channels.
// `combine` is a WindowCombine; the weights of products are [C_out, 1,
// taps...], others have none. What has no bias has none there. Weights that are
// known lie in any order, others as follows. Over planes the input's columns
// are dense, weights contiguous and C_out a multiple of C; else channels are
// innermost in input and weights, and C_out is C. With `groups`,
// results are innermost and sum the channels of their group, of an input in any
// order, by weights [C_out / block, block, C / groups, taps...] that lie in the
// order [C_out / block, taps but those of a row, C / groups, taps of a row,
// block].
const ops::Op& window_op();
// (input, row_places, row_weights, column_places, column_weights,
// channels_inner): images [N, C, H, W] of f32, f16 or bf16 to other sizes, see
// program/resampling/step.h: constant tables [taps, size], places of i32,
// weights of f32 or None; without column places columns stay. The result is
// f32, contiguous, with `channels_inner` [N, H, W, C]; columns, or channels,
// are dense in the input.
const ops::Op& resample_op();

// (query, key, value, masks, kinds, numbers, is_causal, scale, zero_rows,
// inner): attention on [outer, batch, heads, rows, depth] with depth contiguous
// and masks expanded to the scores' shape; `kinds` are MaskKinds and `numbers`
// their values. The last `inner` leading dims lie within the rows of the
// result. Rows that see no key are zeros, or NaN without `zero_rows`.
const ops::Op& attention_op();
// (query, key, value, masks, kinds, numbers, scale, inner, zero_rows):
// softmax(query key^T * scale, masked) value of f32 tensors [.., rows, depth]
// that are not empty and have the same leading dims, as the masks have.
const ops::Op& written_attention_op();

// (input, weight, bias, stride, pad_before, pad_after, dilation, transposed,
// output_padding, groups): a convolution of [N, C, ...] with other padding
// behind than in front.
const ops::Op& padded_conv_op();
// The same arguments: a convolution of [N, C, ...], any strides, to a
// contiguous [N, ..., C_out], f32.
const ops::Op& conv_last_op();
// (..., epilogue, extras): conv_last's arguments, the body that is applied to
// its sums (src/ops/eager/body_value.h), and the tensors that this reads. Input
// 0 of the body is the sum, input i the element of extra i - 1, which has the
// result's shape and order or one element for each channel.
const ops::Op& conv_last_work_op();
ScalarBody conv_epilogue(const ops::OpCall& call);
const ValueList& conv_extras(const ops::OpCall& call);

// Whether calls on constants are computed when a graph is compiled: loops may
// take as long as they like, and some ops have no eager function.
bool is_foldable(const ops::Op& op);
// Whether the node is a draw; it is kept if nobody reads it, for those that
// come after it.
bool is_draw(const fx::Node& node);

}  // namespace fxjit::passes
