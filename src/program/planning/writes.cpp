// How inputs that a call writes get their new values: in place where these are
// the old ones but for some elements, and nobody reads the old ones later; else
// by a copy when all steps are done.
#include <algorithm>

#include "src/passes/lowering/internal_ops.h"
#include "src/program/cost/call_work.h"
#include "src/program/planning/builder.h"
#include "src/program/planning/region_body.h"
#include "src/program/running/update_code.h"

namespace fxjit::program {
namespace {

using passes::ModelGraph;
using passes::Region;

// The call of a region of one update, else null.
const fx::Node* update_in(const Region& region) {
  const fx::Node* update = only_call(region);
  const bool alone = region.kind == Region::Kind::call && update &&
                     update->called_op()->row.direct && !update->args().empty();
  return alone && update_spec(*update->called_op(), meta_args(update->args()))
             ? update
             : nullptr;
}

class UpdateFinder {
 public:
  explicit UpdateFinder(const ModelGraph& model)
      : model_(model), position_(model.graph->id_bound()) {
    int32_t next = 0;
    for (const fx::Node* node : model.graph->nodes())
      position_[node->id()] = next++;
  }

  // The calls that lead from the placeholder's old value to its new one, when
  // all may work in its memory; else none.
  std::vector<const fx::Node*> find(const fx::Node& placeholder,
                                    const fx::Node& last) const {
    std::vector<const fx::Node*> calls;
    const fx::Node* value = &last;
    while (value != &placeholder) {
      if (value->called_op() != &passes::item_op()) return {};
      const fx::Node* const call = value->arg_node(0);
      const fx::Node* const before = updated_by(*call, *value);
      if (!before) return {};
      calls.push_back(call);
      value = before;
    }
    return calls;
  }

 private:
  const fx::Node* updated_by(const fx::Node& call,
                             const fx::Node& value) const {
    if (!call.is(fx::Opcode::call_module)) return nullptr;
    const Region& region = model_.region(call);
    const fx::Node* const update = update_in(region);
    if (!update || !update->arg(0).is_node()) return nullptr;
    const auto inner = region.graph->placeholders();
    const auto at = std::find(inner.begin(), inner.end(), update->arg_node(0));
    if (at == inner.end()) return nullptr;
    const fx::Node* const before =
        call.arg_node(static_cast<size_t>(at - inner.begin()));
    const Tensor &from = before->val_tensor(), &to = value.val_tensor();
    const bool whole = before->is(fx::Opcode::placeholder) ||
                       before->called_op() == &passes::item_op();
    if (!whole || from.sizes() != to.sizes() ||
        from.strides() != to.strides() || !is_read_once(*update) ||
        last_read(*before, &call) >= position_[call.id()])
      return nullptr;
    return before;
  }

  // The updated tensor is no other argument of the call, too.
  static bool is_read_once(const fx::Node& update) {
    int reads = 0;
    for (const Value& arg : update.args())
      visit_leaves(arg, [&](const Value& leaf) {
        reads += leaf.is_node() && leaf.as_node() == update.arg_node(0);
      });
    return reads == 1;
  }

  // Where the value or a view of it is read last, but by `call` itself. A view
  // that `call` reads counts.
  int32_t last_read(const fx::Node& value, const fx::Node* call) const {
    int32_t last = -1;
    for (const fx::Node* user : value.users()) {
      if (user == call) {
        int64_t times = 0;
        for (const Value& arg : call->args())
          times += arg.is_node() && arg.as_node() == &value;
        if (times == 1) continue;
      }
      last = std::max(last, user->called_op() == &passes::as_strided_op()
                                ? last_read(*user, nullptr)
                                : position_[user->id()]);
    }
    return last;
  }

  const ModelGraph& model_;
  std::vector<int32_t> position_;
};

}  // namespace

std::unordered_set<const fx::Node*> find_updates(const ModelGraph& model) {
  std::unordered_set<const fx::Node*> found;
  if (model.written.empty()) return found;
  const UpdateFinder finder(model);
  const auto placeholders = model.graph->placeholders();
  const Value values = model.graph->output_node()->arg(0).at(1);
  for (size_t k = 0; k < model.written.size(); ++k) {
    const fx::Node* const value = values.at(k).as_node();
    const auto calls = finder.find(
        *placeholders[static_cast<size_t>(model.written[k])], *value);
    found.insert(calls.begin(), calls.end());
  }
  return found;
}

void plan_update(PlanBuilder& builder, const RegionCall& call) {
  const fx::Node& update = *update_in(call.region);
  std::vector<OperandRef> operands = operands_of(update, call).refs;
  auto spec = update_spec(*update.called_op(), meta_args(update.args()));
  const Tensor overwritten = meta_of(spec->overwritten);
  operands.push_back(builder.allocate(overwritten).ref());
  for (const OperandRef& ref : operands)
    builder.program().kept.push_back(ref.buffer);
  // The old elements are read and kept, the new ones written.
  const double bytes = 3 * tensor_bytes(overwritten);
  builder.add_step(ExternStep{std::move(*spec), 0, bytes}, std::move(operands),
                   call);
}

namespace {

Step copy_step(const Placed& from, const Placed& to, const char* label) {
  Step step;
  step.body.change() =
      ExternStep{WriteBack{spec_of(from.val), spec_of(to.val)}, 0,
                 tensor_bytes(from.val) + tensor_bytes(to.val)};
  step.operands = {from.ref(), to.ref()};
  step.label = label;
  return step;
}

}  // namespace

// Inputs that are the new values of others are read before any is written.
void plan_write_backs(PlanBuilder& builder, std::vector<Placed> values,
                      const std::vector<Placed>& inputs) {
  std::vector<Step> copies;
  for (size_t k = 0; k < values.size(); ++k) {
    if (values[k].buffer == inputs[k].buffer) continue;
    Placed from = values[k];
    const bool overwritten = std::any_of(
        inputs.begin(), inputs.end(),
        [&](const Placed& input) { return input.buffer == from.buffer; });
    if (overwritten) {
      const Placed saved = builder.allocate(from.val);
      builder.program().steps.push_back(copy_step(from, saved, "copy"));
      from = saved;
    }
    copies.push_back(copy_step(from, inputs[k], "write back"));
  }
  for (Step& copy : copies) builder.program().steps.push_back(std::move(copy));
}

Placed plan_old_value(PlanBuilder& builder, const Placed& input) {
  const Placed saved = builder.allocate(input.val);
  std::vector<Step>& steps = builder.program().steps;
  steps.insert(steps.begin(), copy_step(input, saved, "copy"));
  return saved;
}

}  // namespace fxjit::program
