#include "src/passes/internal_ops.h"

#include <mutex>

#include "src/tensor/memory_order.h"

namespace fxjit::passes {
namespace {

// The view may have another dtype than its base.
DType view_dtype(const ops::OpCall& call) {
  return call.has(4) ? call[4].as_dtype() : call.tensor(0).dtype();
}

Value infer_as_strided(const ops::OpCall& call) {
  return Tensor::meta(call.dims(1), view_dtype(call), call.dims(2),
                      call.integer(3));
}

Value run_as_strided(const ops::OpCall& call) {
  return Tensor::view(call.tensor(0).storage(), call.dims(1),
                      view_dtype(call), call.dims(2), call.integer(3));
}

Value infer_materialize(const ops::OpCall& call) {
  return Tensor::meta(call.tensor(0).sizes(), call.tensor(0).dtype());
}

Value run_materialize(const ops::OpCall& call) {
  return call.tensor(0).clone().contiguous();
}

Scalar identity(ScalarBuilder&, const ops::OpCall&,
                std::span<const Scalar> inputs) {
  return inputs[0];
}

Value infer_layout(const ops::OpCall& call) {
  return Tensor::meta(call.tensor(0).sizes(), call.tensor(0).dtype(),
                      call.dims(1));
}

Value run_layout(const ops::OpCall& call) {
  return copy_in_layout(call.tensor(0), call.dims(1));
}

Value infer_put_view(const ops::OpCall& call) {
  return Tensor::meta(call.tensor(0).sizes(), call.tensor(0).dtype());
}

void direct_put_view(const ops::OpCall& call, std::span<const Tensor> results) {
  const Tensor &out = results[0], &source = call.tensor(1);
  if (out.data() != call.tensor(0).data()) out.copy_from(call.tensor(0));
  out.as_strided(source.sizes(), call.dims(2), call.integer(3))
      .copy_from(source);
}

Value infer_item(const ops::OpCall& call) {
  return call[0].at(static_cast<size_t>(call.integer(1)));
}

Value infer_draw(const ops::OpCall& call) {
  return ops::infer(
      {ops::get_op(call[1].as_string()), call[2].as_sequence(), call.source});
}

Value run_draw(const ops::OpCall& call) {
  return ops::run_eager(
      {ops::get_op(call[1].as_string()), call[2].as_sequence(), call.source});
}

constexpr ops::OpRow kRows[] = {
    {.name = "fxjit.as_strided",
     .schema = "input, sizes, strides, offset, dtype",
     .names = "",
     .lowering = ops::Lowering::view,
     .infer = infer_as_strided,
     .eager = run_as_strided},
    {.name = "fxjit.materialize",
     .schema = "input",
     .names = "",
     .lowering = ops::Lowering::scalar,
     .infer = infer_materialize,
     .eager = run_materialize,
     .scalar = identity,
     .scalar_types = ops::ScalarTypes::custom},
    {.name = "fxjit.layout",
     .schema = "input, strides",
     .names = "",
     .infer = infer_layout,
     .eager = run_layout},
    {.name = "fxjit.put_view",
     .schema = "input, source, strides, offset",
     .names = "",
     .infer = infer_put_view,
     .direct = direct_put_view},
    {.name = "fxjit.item",
     .schema = "calls, index",
     .names = "",
     .infer = infer_item,
     .eager = infer_item},
    {.name = "fxjit.draw",
     .schema = "after, name, args",
     .names = "",
     .infer = infer_draw,
     .eager = run_draw,
     .purity = ops::Purity::random},
};

const ops::Op& internal(const char* name) {
  static std::once_flag once;
  std::call_once(once, [] { ops::register_ops(kRows); });
  return ops::get_op(name);
}

}  // namespace

const ops::Op& as_strided_op() {
  static const ops::Op& op = internal("fxjit.as_strided");
  return op;
}

const ops::Op& materialize_op() {
  static const ops::Op& op = internal("fxjit.materialize");
  return op;
}

const ops::Op& layout_op() {
  static const ops::Op& op = internal("fxjit.layout");
  return op;
}

const ops::Op& put_view_op() {
  static const ops::Op& op = internal("fxjit.put_view");
  return op;
}

const ops::Op& item_op() {
  static const ops::Op& op = internal("fxjit.item");
  return op;
}

const ops::Op& draw_op() {
  static const ops::Op& op = internal("fxjit.draw");
  return op;
}

bool is_draw(const fx::Node& node) { return node.called_op() == &draw_op(); }

}  // namespace fxjit::passes
