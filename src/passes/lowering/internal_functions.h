// Shape rules and eager functions of the ops of internal_ops.h. Only their rows
// use them.
#pragma once

#include "fxjit/op.h"

namespace fxjit::passes {

Value infer_as_strided(const ops::OpCall& call);
Value run_as_strided(const ops::OpCall& call);
Value infer_as_input(const ops::OpCall& call);
Value run_materialize(const ops::OpCall& call);
Scalar identity(ScalarBuilder& builder, const ops::OpCall& call,
                std::span<const Scalar> inputs);
Value infer_layout(const ops::OpCall& call);
Value run_layout(const ops::OpCall& call);
void direct_put_view(const ops::OpCall& call, std::span<const Tensor> results);
Value infer_item(const ops::OpCall& call);
Value infer_draw(const ops::OpCall& call);
Value run_draw(const ops::OpCall& call);
Value infer_control(const ops::OpCall& call);

Value infer_contract(const ops::OpCall& call);
Value infer_plane_product(const ops::OpCall& call);
Value run_plane_product(const ops::OpCall& call);
Value infer_window_product(const ops::OpCall& call);
Value run_window_product(const ops::OpCall& call);
Value infer_merged_linear(const ops::OpCall& call);
Value run_merged_linear(const ops::OpCall& call);
Value infer_winograd(const ops::OpCall& call);
Value infer_window(const ops::OpCall& call);
Value run_window(const ops::OpCall& call);
Value infer_resample(const ops::OpCall& call);
Value run_resample(const ops::OpCall& call);
Value infer_attention(const ops::OpCall& call);
Value infer_written_attention(const ops::OpCall& call);
Value infer_conv_last(const ops::OpCall& call);
Value run_conv_last(const ops::OpCall& call);
Value infer_padded_conv(const ops::OpCall& call);
Value run_padded_conv(const ops::OpCall& call);
Value infer_conv_last_work(const ops::OpCall& call);
Value run_conv_last_work(const ops::OpCall& call);

}  // namespace fxjit::passes
