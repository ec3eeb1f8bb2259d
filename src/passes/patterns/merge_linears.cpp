// Linear layers on one input become one product, so that the input is read once
// and small products fill the cores:
//
//   q = linear(x, wq, bq)              y = merged_linear(x, [wq, wk], [bq, bk])
//   k = linear(x, wk, bk)      ==>     q = narrow(y, -1, 0, nq)
//                                      k = narrow(y, -1, nq, nk)
//
// Not where a result feeds elementwise work: that is better done on the product
// while it is in registers. Not where a result is returned or seen by its place
// in memory: it must be contiguous then.
#include <map>
#include <tuple>

#include "src/passes/lowering/lower.h"
#include "src/passes/origins.h"
#include "src/passes/patterns.h"

namespace fxjit::passes {
namespace {

bool mergeable(const fx::Node& node, const ops::Op& linear) {
  if (node.called_op() != &linear) return false;
  const fx::Node* weight = node.arg_node(1);
  if (!weight->is(fx::Opcode::get_attr) ||
      weight->val_tensor().dtype() != DType::f32 ||
      weight->val_tensor().dim() != 2 ||
      node.arg_node(0)->val_tensor().dtype() != DType::f32)
    return false;
  if (const fx::Node* bias = node.arg_node(2);
      bias && !bias->is(fx::Opcode::get_attr))
    return false;
  for (const fx::Node* user : node.users()) {
    const ops::Op* op = user->called_op();
    if (!op || op->row.lowering == ops::Lowering::scalar ||
        op->name() == "as_strided")
      return false;
  }
  return true;
}

void merge(fx::Graph& graph, const std::vector<fx::NodePtr>& group) {
  ValueList weights, biases;
  Size columns = 0;
  for (fx::NodePtr node : group) {
    weights.push_back(node->arg(1));
    biases.push_back(node->arg(2));
    columns += node->val_tensor().size(-1);
  }
  // Every weight must stand before the merged call: those behind it move up.
  // The others may have users in front of it.
  fx::NodePtr first = group.front();
  for (size_t i = 0; i < group.size(); ++i)
    for (int arg : {1, 2})
      if (fx::NodePtr node = group[i]->arg_node(arg);
          node && first->precedes(node))
        first->prepend(node);
  auto scope = graph.inserting_before(first);
  const bool has_bias = !biases[0].is_none();
  fx::NodePtr merged = graph.call_function(
      merged_linear_op().canonical, {first->arg(0), Value::list(weights),
                                     has_bias ? Value::list(biases) : Value()});
  Dims sizes = first->val_tensor().sizes();
  sizes[sizes.size() - 1] = columns;
  merged->copy_meta_from(*first);
  take_origins(*merged, group);
  merged->set_val(Tensor::meta(sizes, DType::f32));
  Size start = 0;
  for (fx::NodePtr node : group) {
    const Size length = node->val_tensor().size(-1);
    fx::NodePtr part = graph.call_function(ops::get_op("narrow").canonical,
                                           {merged, -1, start, length});
    part->copy_meta_from(*node);
    part->set_val(Tensor::meta(node->val_tensor().sizes(), DType::f32,
                               contiguous_strides(sizes), start));
    start += length;
    node->replace_all_uses_with(part);
  }
  for (fx::NodePtr node : group) graph.erase_node(node);
}

}  // namespace

int merge_linears(ModelGraph& model) {
  const ops::Op& linear = ops::get_op("linear");
  // Ordered by first node, so that the result does not depend on addresses.
  std::map<std::pair<uint32_t, bool>, std::vector<fx::NodePtr>> groups;
  for (fx::NodePtr node : model.graph->nodes())
    if (mergeable(*node, linear))
      groups[{node->arg_node(0)->id(), node->arg(2).is_none()}].push_back(node);
  int merged = 0;
  for (auto& [key, group] : groups) {
    if (group.size() < 2) continue;
    merge(*model.graph, group);
    ++merged;
  }
  return merged;
}

}  // namespace fxjit::passes
