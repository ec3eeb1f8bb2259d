#include "src/fx/graph/node_aliasing.h"

#include "src/ops/table/aliasing.h"

namespace fxjit::fx {

const ops::Op* op_of(const Node& node) {
  if (!node.is(Opcode::call_method)) return node.called_op();
  const ops::Spelling* const method = ops::find_method(node.target_name());
  return method ? method->op : nullptr;
}

bool may_alias(const Node& node) {
  if (node.is(Opcode::placeholder) || node.is(Opcode::get_attr)) return false;
  const ops::Op* const op = op_of(node);
  // What writes an argument gives it back.
  return !op || ops::may_alias(*op) || node.is_impure(false);
}

}  // namespace fxjit::fx
