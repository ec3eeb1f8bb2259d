// Rows of a dequantised table are dequantised once they are picked:
//
//   embedding(i, dequantize(t, s, z))   ==>   dequantize(embedding(i, t), s, z)
//
// Scales and zero points of rows are picked as their rows are. Not where they
// differ otherwise.
#include "fxjit/dims.h"
#include "src/ops/table/op_facts.h"
#include "src/passes/patterns.h"
#include "src/passes/patterns/quantised.h"

namespace fxjit::passes {
namespace {

bool is_pick(const ops::Op* op) {
  return op && op->row.lowering == ops::Lowering::gather;
}

// Whether it picks along the first of two dims.
bool picks_rows(const fx::Node& node, const Tensor& table) {
  const ops::GatherRoles& roles = ops::facts_of(*node.called_op()).gather;
  if (table.dim() != 2) return false;
  return roles.kind == ops::GatherKind::rows ||
         (roles.kind == ops::GatherKind::slices &&
          wrap_dim(node.arg(static_cast<size_t>(roles.dim)).as_int(), 2) == 0);
}

bool fits(const fx::Node& node, const Quantised& table) {
  if (table.fits({1})) return true;
  const Tensor& numbers = table.input->val_tensor();
  return picks_rows(node, numbers) && table.fits({numbers.size(0), 1});
}

}  // namespace

int pick_quantised(ModelGraph& model) {
  return rewrite_each(model, [&](fx::NodePtr node) {
    const ops::Op* const op = node->called_op();
    if (!is_pick(op)) return false;
    const auto at = static_cast<size_t>(ops::facts_of(*op).gather.table);
    const auto table = quantised(node->arg_node(at));
    if (!table || !fits(*node, *table)) return false;
    CallWriter write(*model.graph, node);
    const auto picked = [&](const Value& from) -> Value {
      ValueList args = node->args();
      args[at] = from;
      return write.call(*op, args);
    };
    const auto parameter = [&](const Value& value) -> Value {
      const bool whole =
          value.is_none() || value.as_node()->val_tensor().numel() == 1;
      return whole ? value : picked(value);
    };
    const fx::NodePtr made = write.call(
        "fxjit.dequantize", {picked(table->input), parameter(table->scale),
                             parameter(table->zero)});
    node->replace_all_uses_with(made);
    model.graph->erase_node(node);
    return true;
  });
}

}  // namespace fxjit::passes
