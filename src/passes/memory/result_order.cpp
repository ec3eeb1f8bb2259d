#include "src/passes/memory/result_order.h"

#include <algorithm>

#include "src/passes/lowering/internal_ops.h"
#include "src/passes/lowering/lower.h"
#include "src/tensor/memory_order.h"

namespace fxjit::passes {
namespace {

// Whether results are all that reads a value: directly, through views, or
// through calls that are made for results.
bool leads_to_results(const fx::Node& node,
                      const std::unordered_set<const fx::Node*>& leading) {
  for (const fx::Node* user : node.users())
    if (!user->is(fx::Opcode::output) && !leading.contains(user)) return false;
  return !node.users().empty();
}

// `value`, whose elements lie in the places of `wanted`, with its strides.
Value with_strides_of(GraphBuilder& b, const Value& value,
                      const Tensor& wanted) {
  const Tensor val = val_of(value);
  FXJIT_CHECK(same_places(val.sizes(), val.strides(), wanted.strides()),
              "a copy in the order of dense strides has these strides");
  if (val.strides() == wanted.strides()) return value;
  if (const Tensor* const constant = b.constant_of(value))
    return b.constant(
        constant->as_strided(wanted.sizes(), wanted.strides(),
                             constant->offset()),
        GraphBuilder::node_of(value)->meta().contains("computed"));
  return b.call(as_strided_op(),
                {value, wanted.sizes(), wanted.strides(), val.offset(), None});
}

}  // namespace

std::vector<Tensor> layouts_of_results(const ModelGraph& model) {
  std::vector<Tensor> layouts;
  const fx::Node& output = *model.graph->output_node();
  visit_leaves(output.arg(0), [&](const Value& leaf) {
    layouts.push_back(leaf.is_node() ? leaf.as_node()->val_tensor() : Tensor());
  });
  return layouts;
}

Value in_order_of(GraphBuilder& b, const Value& value, const Tensor& wanted) {
  const Tensor val = val_of(value);
  if (val.strides() == wanted.strides()) return value;
  // Only strides that mean nothing are others.
  if (same_places(val.sizes(), val.strides(), wanted.strides()))
    return with_strides_of(b, value, wanted);
  if (!is_dense(wanted)) return value;
  // Calls on constants are folded, and views of them lie as the constants do.
  if (const Tensor* const constant = b.constant_of(value))
    return b.constant(copy_in_layout(*constant, wanted.strides()), true);
  const Dims order = memory_order(wanted);
  const Value ordered = call(b, "permute", {value, order});
  const Value copy = val_of(ordered).is_contiguous()
                         ? ordered
                         : b.call(materialize_op(), {ordered});
  return with_strides_of(b, in_logical_order(b, copy, order), wanted);
}

Value results_in_order(GraphBuilder& b, const Value& result,
                       const std::vector<Tensor>& wanted) {
  size_t next = 0;
  // What was folded to a constant is no proxy, and has its place all the same.
  return map_leaves(result, [&](const Value& leaf) {
    const Tensor& layout = wanted[next++];
    if (!leaf.is_proxy() || !layout.defined()) return leaf;
    if (val_of(leaf).sizes() != layout.sizes())
      b.refuse("a folded result has lost its shape");
    return in_order_of(b, leaf, layout);
  });
}

std::unordered_set<const fx::Node*> calls_for_results(const ModelGraph& model) {
  std::vector<const fx::Node*> nodes;
  for (const fx::Node* node : model.graph->nodes()) nodes.push_back(node);
  std::unordered_set<const fx::Node*> leading, calls;
  std::reverse(nodes.begin(), nodes.end());
  for (const fx::Node* node : nodes) {
    const ops::Op* const op = node->called_op();
    if (!op || !node->val().is_tensor() || !leads_to_results(*node, leading))
      continue;
    const Tensor& val = node->val_tensor();
    if (op->row.lowering == ops::Lowering::view) leading.insert(node);
    if (op->row.lowering != ops::Lowering::scalar || val.is_contiguous() ||
        !is_dense(val))
      continue;
    leading.insert(node);
    calls.insert(node);
  }
  return calls;
}

Value call_in_order_of(GraphBuilder& b, const ops::Op& op,
                       const ValueList& args, const Tensor& val) {
  if (reads_position(op, args)) return {};
  const Dims order = memory_order(val);
  ValueList ordered;
  for (const Value& arg : args)
    ordered.push_back(operand_in_order(b, arg, order));
  const Value result = b.call_in_memory_order(op, std::move(ordered));
  return in_logical_order(b, result, order);
}

}  // namespace fxjit::passes
