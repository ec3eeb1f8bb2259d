// Regions of one op with a kernel of its own, and regions that no skeleton
// fits.
#include "src/passes/internal_ops.h"
#include "src/program/call_work.h"
#include "src/program/eager_kernel.h"
#include "src/program/plan_builder.h"
#include "src/program/region_body.h"

namespace fxjit::program {
namespace {

// What a node calls. A draw calls the op that it names, with the arguments that
// it holds: the order is that of the steps from here on.
struct Called {
  const ops::Op& op;
  const ValueList& args;
};

Called called_by(const fx::Node& node) {
  if (!passes::is_draw(node)) return {*node.called_op(), node.args()};
  return {ops::get_op(node.arg(1).as_string()), node.arg(2).as_sequence()};
}

struct CallOperands {
  std::vector<OperandRef> refs;
  std::vector<Tensor> constants;
};

CallOperands tensor_operands(const fx::Node& node,
                             const std::function<Placed(const fx::Node*)>& at) {
  CallOperands operands;
  for (const Value& arg : called_by(node).args)
    visit_leaves(arg, [&](const Value& leaf) {
      if (!leaf.is_node() || !leaf.as_node()->val().is_tensor()) return;
      const Placed placed = at(leaf.as_node());
      operands.refs.push_back(placed.ref());
      operands.constants.push_back(placed.constant);
    });
  return operands;
}

ValueList result_metas(const fx::Node& node) {
  ValueList metas;
  visit_leaves(node.val(), [&](const Value& leaf) {
    if (leaf.is_tensor()) metas.push_back(leaf);
  });
  return metas;
}

void add_call(PlanBuilder& builder, const RegionCall& call,
              const fx::Node& node, CallOperands operands,
              const std::vector<Placed>& results, bool allow_kernel) {
  const Called called = called_by(node);
  const ValueList args = meta_args(called.args);
  std::shared_ptr<const ExternKernel> kernel;
  if (allow_kernel && builder.options().kernels)
    kernel = builder.options().kernels(
        {called.op, args, operands.constants, result_metas(node),
         builder.options().level});
  if (!kernel)
    kernel =
        std::make_shared<EagerKernel>(called.op, args, result_metas(node));
  for (const Placed& result : results) operands.refs.push_back(result.ref());
  const CallWork work = call_work(called.op, args, result_metas(node));
  builder.add_step(ExternStep{std::move(kernel), work.flops, work.bytes,
                              static_cast<int32_t>(results.size())},
                   std::move(operands.refs), call);
}

}  // namespace

void plan_kernel(PlanBuilder& builder, const RegionCall& call) {
  for (const fx::Node* node : call.region.graph->nodes()) {
    if (!node->called_op()) continue;
    auto operands = tensor_operands(
        *node, [&](const fx::Node* n) { return call.inputs.at(n); });
    add_call(builder, call, *node, std::move(operands), call.results, true);
  }
}

bool plan_copy(PlanBuilder& builder, const RegionCall& call) {
  const fx::Node* copy = nullptr;
  for (const fx::Node* node : call.region.graph->nodes()) {
    if (!node->called_op()) continue;
    if (copy || node->called_op() != &passes::materialize_op()) return false;
    copy = node;
  }
  if (!copy || !builder.options().kernels) return false;
  auto operands = tensor_operands(
      *copy, [&](const fx::Node* n) { return call.inputs.at(n); });
  auto kernel =
      builder.options().kernels({*copy->called_op(), meta_args(copy->args()),
                                 operands.constants, result_metas(*copy)});
  if (!kernel) return false;
  operands.refs.push_back(call.results.front().ref());
  const CallWork work = call_work(*copy->called_op(), meta_args(copy->args()),
                                  result_metas(*copy));
  builder.add_step(ExternStep{std::move(kernel), work.flops, work.bytes},
                   std::move(operands.refs), call);
  return true;
}

void plan_eager(PlanBuilder& builder, const RegionCall& call) {
  std::unordered_map<const fx::Node*, Placed> places(call.inputs.begin(),
                                                     call.inputs.end());
  for (const fx::Node* node : call.region.graph->nodes()) {
    if (!node->called_op()) continue;
    const int result = call.result_index(*node);
    places[node] = result >= 0 ? call.results[static_cast<size_t>(result)]
                               : builder.allocate(node->val_tensor());
    auto operands =
        tensor_operands(*node, [&](const fx::Node* n) { return places.at(n); });
    add_call(builder, call, *node, std::move(operands), {places[node]}, false);
  }
}

}  // namespace fxjit::program
