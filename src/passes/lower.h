// Lowers a normalised graph: composite ops are decomposed into scalar bodies,
// reductions and contractions, views become as_strided of the node that owns
// the memory, and every matrix product becomes one `contract`.
#pragma once

#include "src/ops/conv_kernel.h"
#include "src/passes/graph_builder.h"
#include "src/passes/model_graph.h"

namespace fxjit::passes {

struct LowerOptions {
  HasKernel has_kernel = nullptr;    // See GraphBuilder::Options.
  bool direct_convolutions = false;  // Likewise.
  // Shapes and strides of the values of the result, as layouts_of_results gives
  // them; empty: those of `model`.
  std::vector<Tensor> results;
};

ModelGraph lower(const ModelGraph& model, const LowerOptions& options = {});

// (input, weights): input [..., M, K] times the weights [K, N_i] side by side,
// f32, constants also of a half type; one weight may instead be [batch..., K,
// N]. K is contiguous in the input and its other dims step uniformly within
// each of batch and rows.
const ops::Op& contract_op();
// (input, weights, biases): linear layers on one input, results side by side
// along the last dim; `biases` is none or has one per weight.
const ops::Op& merged_linear_op();

// What a mask does to the scores that it broadcasts to.
enum class MaskKind : uint8_t {
  add,   // score + value * mask, f32.
  hide,  // score where true, else score - infinity.
  keep,  // score where true, else value.
  fill,  // value where true, else score.
};

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

// The lowered form of linear, matmul, mm, bmm, addmm, baddbmm and merged
// linears; none when the dtype has no generated code.
Value lower_contraction(GraphBuilder& builder, const ops::Op& op,
                        const ValueList& args);
// The same op on doubles, with factors that its kernel takes: matrices, equal
// batches of them, in even steps. None where they are so.
Value lower_doubles(GraphBuilder& builder, const ops::Op& op,
                    const ValueList& args);
// (input, weight, bias, stride, pad_before, pad_after, dilation, transposed,
// output_padding, groups): a convolution of [N, C, ...], any strides, to a
// contiguous [N, ..., C_out], f32.
const ops::Op& conv_last_op();

// A convolution of f32 with channels last: a product where the window is one
// element, a sum of shifted views where it is depthwise over lines, else
// conv_last. One of half types without a kernel of its own, in f32. None for
// others.
Value lower_convolution(GraphBuilder& builder, const ops::Op& op,
                        const ValueList& args);
// A convolution over lines whose windows are runs of memory, as a product;
// `args` are input with its batch, weight, bias. None for others.
Value lower_line_windows(GraphBuilder& builder, const ops::ConvParams& params,
                         const ValueList& args);
// Group or instance norm of an f32 image with channels innermost; none for
// other calls.
Value lower_group_norm(GraphBuilder& builder, const ops::Op& op,
                       const ValueList& args);
// (input, weight, pad_before, pad_after, tile): a 3x3 convolution of stride 1 by
// Winograd's minimal filtering (see program/winograd.h): input [N, H, W, C] with
// C contiguous, a constant weight [O, C, 3, 3], result a contiguous
// [N, OH, OW, O], f32.
const ops::Op& winograd_op();
// The same of [N, C, H, W] where that is less work; none elsewhere.
Value lower_winograd(GraphBuilder& builder, const ops::ConvParams& params,
                     const Value& input, const Value& weight);
// The lowered form of index_select along inner dims, of index with one tensor
// and of flip; none for other calls.
Value lower_gather(GraphBuilder& builder, const ops::Op& op,
                   const ValueList& args);
// The lowered form of scaled_dot_product_attention and of attention written
// out; none to decompose it.
Value lower_attention(GraphBuilder& builder, const ops::Op& op,
                      const ValueList& args);

// For the functions above.
// Shape and strides of the tensor behind a proxy.
Tensor val_of(const Value& proxy);
// Calls the op of this canonical name with these leading arguments.
Value call(GraphBuilder& builder, std::string_view op, const ValueList& args);

// Whether the body of an elementwise call asks where its elements lie.
bool reads_position(const ops::Op& op, const ValueList& args);

}  // namespace fxjit::passes
