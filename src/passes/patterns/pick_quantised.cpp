// Rows of a dequantised table are dequantised once they are picked:
//
//   embedding(i, dequantize(t, s, z))   ==>   dequantize(embedding(i, t), s, z)
//
// Not where a scale or zero point differs within the table.
#include "src/ops/table/op_facts.h"
#include "src/passes/patterns.h"
#include "src/passes/patterns/quantised.h"

namespace fxjit::passes {
namespace {

bool is_pick(const ops::Op* op) {
  return op && op->row.lowering == ops::Lowering::gather;
}

}  // namespace

int pick_quantised(ModelGraph& model) {
  return rewrite_each(model, [&](fx::NodePtr node) {
    const ops::Op* const op = node->called_op();
    if (!is_pick(op)) return false;
    const auto at = static_cast<size_t>(ops::facts_of(*op).gather.table);
    const auto table = quantised(node->arg_node(at));
    if (!table || !table->fits({1})) return false;
    ValueList args = node->args();
    args[at] = table->input;
    CallWriter write(*model.graph, node);
    const fx::NodePtr made = write.call(
        "fxjit.dequantize", {write.call(*op, args), table->scale, table->zero});
    node->replace_all_uses_with(made);
    model.graph->erase_node(node);
    return true;
  });
}

}  // namespace fxjit::passes
