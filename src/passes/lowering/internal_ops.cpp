#include "src/passes/lowering/internal_ops.h"

#include <mutex>

#include "src/ops/eager/body_value.h"
#include "src/passes/lowering/internal_functions.h"

namespace fxjit::passes {
namespace {

using ops::Aliasing;
using ops::Layout;
using ops::Lowering;
using ops::Purity;
using ops::RoutineKind;
using ops::ScalarTypes;
using ops::UpdateKind;

constexpr ops::OpRow kInternalOps[] = {
    {.name = "fxjit.as_strided",
     .schema = "input, sizes, strides, offset, dtype",
     .names = "",
     .lowering = Lowering::view,
     .infer = infer_as_strided,
     .eager = run_as_strided},
    {.name = "fxjit.materialize",
     .schema = "input",
     .names = "",
     .lowering = Lowering::scalar,
     .infer = infer_as_input,
     .eager = run_materialize,
     .scalar = identity,
     .scalar_types = ScalarTypes::custom,
     .facts = {.layout = Layout::plain, .routine = RoutineKind::copies}},
    {.name = "fxjit.layout",
     .schema = "input, strides",
     .names = "",
     .infer = infer_layout,
     .eager = run_layout},
    {.name = "fxjit.put_view",
     .schema = "input, source, strides, offset",
     .names = "",
     .infer = infer_as_input,
     .direct = direct_put_view,
     .facts = {.update = UpdateKind::view}},
    {.name = "fxjit.item",
     .schema = "calls, index",
     .names = "",
     .infer = infer_item,
     .eager = infer_item,
     .facts = {.aliasing = Aliasing::item}},
    {.name = "fxjit.draw",
     .schema = "after, name, args",
     .names = "",
     .infer = infer_draw,
     .eager = run_draw,
     .purity = Purity::random},
    {.name = "fxjit.control",
     .schema = "spec, pred, carried, xs, operands",
     .names = "",
     .infer = infer_control,
     .eager = infer_control},
    {.name = "fxjit.contract",
     .schema = "input, weights",
     .names = "",
     .lowering = Lowering::contraction,
     .infer = infer_contract},
    {.name = "fxjit.plane_product",
     .schema = "image, weight",
     .names = "",
     .lowering = Lowering::contraction,
     .infer = infer_plane_product,
     .eager = run_plane_product},
    {.name = "fxjit.window_product",
     .schema = "image, weight, taps, stride, pad_before, pad_after, dilation, "
               "output",
     .names = "",
     .lowering = Lowering::contraction,
     .infer = infer_window_product,
     .eager = run_window_product},
    {.name = "fxjit.merged_linear",
     .schema = "input, weights, biases",
     .names = "",
     .lowering = Lowering::contraction,
     .infer = infer_merged_linear,
     .eager = run_merged_linear,
     .facts = {.product = {.added = 2, .right_by_column = true},
               .native = ops::NativeCalls::products}},
    {.name = "fxjit.winograd",
     .schema = "input, weight, pad_before, pad_after, outside",
     .names = "",
     .lowering = Lowering::contraction,
     .infer = infer_winograd},
    {.name = "fxjit.window",
     .schema = "input, weight, bias, combine, taps, stride, pad_before, "
               "pad_after, dilation, output, channels_inner, outside=0, "
               "groups=0",
     .names = "",
     .lowering = Lowering::contraction,
     .infer = infer_window,
     .eager = run_window},
    {.name = "fxjit.resample",
     .schema = "input, row_places, row_weights, column_places, "
               "column_weights, channels_inner",
     .names = "",
     .lowering = Lowering::contraction,
     .infer = infer_resample,
     .eager = run_resample},
    {.name = "fxjit.attention",
     .schema = "query, key, value, masks, kinds, numbers, is_causal, scale, "
               "zero_rows, inner",
     .names = "",
     .lowering = Lowering::attention,
     .infer = infer_attention},
    {.name = "fxjit.written_attention",
     .schema = "query, key, value, masks, kinds, numbers, scale, inner, "
               "zero_rows",
     .names = "",
     .lowering = Lowering::attention,
     .infer = infer_written_attention},
    {.name = "fxjit.padded_conv",
     .schema = "input, weight, bias, stride, pad_before, pad_after, dilation, "
               "transposed, output_padding, groups",
     .names = "",
     .lowering = Lowering::convolution,
     .infer = infer_padded_conv,
     .eager = run_padded_conv},
    {.name = "fxjit.conv_last",
     .schema = "input, weight, bias, stride, pad_before, pad_after, dilation, "
               "transposed, output_padding, groups",
     .names = "",
     .lowering = Lowering::convolution,
     .infer = infer_conv_last,
     .eager = run_conv_last},
    {.name = "fxjit.conv_last_work",
     .schema = "input, weight, bias, stride, pad_before, pad_after, dilation, "
               "transposed, output_padding, groups, epilogue, extras",
     .names = "",
     .lowering = Lowering::convolution,
     .infer = infer_conv_last_work,
     .eager = run_conv_last_work},
};

// Places in the schema of conv_last_work.
constexpr size_t kEpilogue = 10, kExtras = 11;

const ops::Op& registered(const char* name) {
  static std::once_flag once;
  std::call_once(once, [] { ops::register_ops(kInternalOps); });
  return ops::get_op(name);
}

}  // namespace

#define FXJIT_INTERNAL_OP(name)                            \
  const ops::Op& name##_op() {                             \
    static const ops::Op& op = registered("fxjit." #name); \
    return op;                                             \
  }
FXJIT_INTERNAL_OP(as_strided)
FXJIT_INTERNAL_OP(materialize)
FXJIT_INTERNAL_OP(layout)
FXJIT_INTERNAL_OP(put_view)
FXJIT_INTERNAL_OP(item)
FXJIT_INTERNAL_OP(draw)
FXJIT_INTERNAL_OP(control)
FXJIT_INTERNAL_OP(contract)
FXJIT_INTERNAL_OP(plane_product)
FXJIT_INTERNAL_OP(window_product)
FXJIT_INTERNAL_OP(merged_linear)
FXJIT_INTERNAL_OP(winograd)
FXJIT_INTERNAL_OP(window)
FXJIT_INTERNAL_OP(resample)
FXJIT_INTERNAL_OP(attention)
FXJIT_INTERNAL_OP(written_attention)
FXJIT_INTERNAL_OP(conv_last)
FXJIT_INTERNAL_OP(padded_conv)
FXJIT_INTERNAL_OP(conv_last_work)
#undef FXJIT_INTERNAL_OP

ScalarBody conv_epilogue(const ops::OpCall& call) {
  return ops::body_from(call[kEpilogue]);
}

const ValueList& conv_extras(const ops::OpCall& call) {
  return call[kExtras].as_sequence();
}

bool is_foldable(const ops::Op& op) {
  return &op != &control_op() && &op != &contract_op() &&
         &op != &winograd_op() && &op != &attention_op() &&
         &op != &written_attention_op();
}

bool is_draw(const fx::Node& node) { return node.called_op() == &draw_op(); }

}  // namespace fxjit::passes
