// Each use of a dequantised tensor dequantises for itself, right before it:
// integers are what steps leave to one another, and take a quarter of the
// memory.
//
//   y = dequantize(x, s, z); f(y); g(y)   ==>   f(dequantize(x, s, z));
//                                               g(dequantize(x, s, z))
#include "src/passes/patterns.h"
#include "src/passes/patterns/quantised.h"

namespace fxjit::passes {
namespace {

// Whether only other dequantised inputs stand between a node and its one user.
bool is_before_its_use(const fx::Node& node) {
  if (node.users().size() != 1) return false;
  const fx::Node* const user = *node.users().begin();
  for (fx::NodePtr next = node.next(); next != user; next = next->next())
    if (!quantised(next) || !next->has_user(user)) return false;
  return true;
}

}  // namespace

int quantised_uses(ModelGraph& model) {
  return rewrite_each(model, [&](fx::NodePtr node) {
    const auto x = quantised(node);
    if (!x || x->input->is(fx::Opcode::get_attr) || node->users().empty() ||
        is_before_its_use(*node))
      return false;
    const std::vector<fx::NodePtr> users(node->users().begin(),
                                         node->users().end());
    for (fx::NodePtr user : users) {
      if (user->is(fx::Opcode::output) && users.size() == 1) return false;
      CallWriter write(*model.graph, user);
      user->replace_input_with(node,
                               write.call(*node->called_op(), node->args()));
    }
    return true;
  });
}

}  // namespace fxjit::passes
