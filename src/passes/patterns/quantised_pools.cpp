// The greatest of dequantised numbers is the greatest of their integers:
//
//   max_pool(dequantize(x, s, z))   ==>   dequantize(max_pool(x), s, z)
//
// With one scale for all, which is positive; images only.
#include "src/ops/eager/pooling.h"
#include "src/passes/patterns.h"
#include "src/passes/patterns/quantised.h"

namespace fxjit::passes {
namespace {

bool is_positive(const ModelGraph& model, const Value& scale) {
  if (!scale.as_node()->is(fx::Opcode::get_attr)) return false;
  const Tensor& known = model.constant(*scale.as_node());
  return !known.is_meta() && known.numel() == 1 && known.dtype() == DType::f32 &&
         *known.data_as<float>() > 0;
}

bool is_max_pool_of_images(const fx::Node& node) {
  const ops::Op* const op = node.called_op();
  if (!op || !node.val().is_tensor() || op->row.lowering != ops::Lowering::pool)
    return false;
  const ValueList metas = vals_of(node.args());
  const ops::PoolParams params = ops::pool_params({*op, metas});
  return !params.average && params.batched && params.spatial == 2;
}

}  // namespace

int quantised_pools(ModelGraph& model) {
  return rewrite_each(model, [&](fx::NodePtr node) {
    if (!is_max_pool_of_images(*node)) return false;
    const auto x = quantised(node->arg_node(0));
    if (!x || x->input->is(fx::Opcode::get_attr) || !x->fits({1}) ||
        !is_positive(model, x->scale))
      return false;
    ValueList args = node->args();
    args[0] = x->input;
    CallWriter write(*model.graph, node);
    node->replace_all_uses_with(
        write.call("fxjit.dequantize",
                   {write.call(*node->called_op(), args), x->scale, x->zero}));
    model.graph->erase_node(node);
    return true;
  });
}

}  // namespace fxjit::passes
