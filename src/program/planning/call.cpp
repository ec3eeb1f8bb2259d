// Regions of one call that no skeleton computes, and regions that no skeleton
// fits.
#include "src/ops/table/recurrence.h"
#include "src/passes/control_flow.h"
#include "src/passes/lowering/internal_ops.h"
#include "src/program/convolution/tail.h"
#include "src/program/cost/call_work.h"
#include "src/program/planning/builder.h"
#include "src/program/planning/call_code_rules.h"
#include "src/program/planning/moved_view.h"
#include "src/program/planning/region_body.h"

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

// Calls know their operands by the graph's sizes and strides.
void check_layout(const Placed& placed, const Tensor& val) {
  FXJIT_CHECK(lies_as(placed.val, val), "an operand of a call has gaps");
}

CallOperands tensor_operands(const fx::Node& node, const Places& places) {
  CallOperands operands;
  for (const Value& arg : called_by(node).args)
    visit_leaves(arg, [&](const Value& leaf) {
      if (!leaf.is_node() || !leaf.as_node()->val().is_tensor()) return;
      const Placed& placed = places.at(leaf.as_node());
      check_layout(placed, leaf.as_node()->val_tensor());
      operands.refs.push_back(placed.ref());
      operands.constants.push_back(placed.constant);
    });
  return operands;
}

CallSpec spec_of_call(const fx::Node& node) {
  const Called called = called_by(node);
  return {CallCode::eager,
          std::string(called.op.name()),
          meta_args(called.args),
          result_metas(node),
          {}};
}

void add_call(PlanBuilder& builder, const RegionCall& call, CallSpec spec,
              CallOperands operands, const std::vector<Placed>& results) {
  for (size_t i = 0; i < results.size(); ++i) {
    check_layout(results[i], spec.results[i].as_tensor());
    operands.refs.push_back(results[i].ref());
  }
  const CallWork work =
      call_work(ops::get_op(spec.op), spec.args, spec.results);
  builder.add_step(ExternStep{std::move(spec), work.flops, work.bytes,
                              static_cast<int32_t>(results.size())},
                   std::move(operands.refs), call);
}

CallCode code_for(const CallSpec& spec) {
  return call_code_of({ops::get_op(spec.op), spec.args}, spec.results);
}

}  // namespace

const fx::Node* only_call(const passes::Region& region) {
  const fx::Node* call = nullptr;
  for (const fx::Node* node : region.graph->nodes()) {
    if (!node->called_op()) continue;
    if (call) return nullptr;
    call = node;
  }
  return call;
}

CallOperands operands_of(const fx::Node& node, const RegionCall& call) {
  return tensor_operands(node, call.inputs);
}

ValueList result_metas(const fx::Node& node) {
  ValueList metas;
  visit_leaves(node.val(), [&](const Value& leaf) {
    if (leaf.is_tensor()) metas.push_back(leaf);
  });
  return metas;
}

void plan_call(PlanBuilder& builder, const RegionCall& call) {
  for (const fx::Node* node : call.region.graph->nodes()) {
    if (!node->called_op()) continue;
    if (node->called_op() == &passes::control_op()) {
      plan_control(builder, call, *node);
      continue;
    }
    CallSpec spec = spec_of_call(*node);
    spec.code = code_for(spec);
    spec.tail = convolution_tail({ops::get_op(spec.op), spec.args}, spec.code,
                                 builder.options().machine);
    if (spec.code == CallCode::recurrence)
      spec.args[ops::kStrict] = builder.options().strict_sums;
    add_call(builder, call, std::move(spec), operands_of(*node, call),
             call.results);
  }
}

bool plan_copy(PlanBuilder& builder, const RegionCall& call) {
  const fx::Node* copy = only_call(call.region);
  if (!copy || copy->called_op() != &passes::materialize_op()) return false;
  CallSpec spec = spec_of_call(*copy);
  spec.code = code_for(spec);
  if (spec.code == CallCode::eager) return false;
  add_call(builder, call, std::move(spec), operands_of(*copy, call),
           {call.results.front()});
  return true;
}

void plan_eager(PlanBuilder& builder, const RegionCall& call) {
  Places places = call.inputs;
  for (const fx::Node* node : call.region.graph->nodes()) {
    if (!node->called_op()) continue;
    const int result = call.result_index(*node);
    const Placed place = result >= 0 ? call.results[static_cast<size_t>(result)]
                                     : builder.allocate(node->val_tensor());
    add_call(builder, call, spec_of_call(*node), tensor_operands(*node, places),
             {place});
    places.add(*node, place);
  }
}

}  // namespace fxjit::program
