// Calls with several results of which only the first is read become calls with
// that one:
//
//   values, indices = max_pool2d_with_indices(x)    ==>    values =
//   max_pool2d(x)
//
// Exported programs write pools and norms so; the other results have no
// generated code.
#include <string_view>

#include "src/passes/lowering/internal_ops.h"
#include "src/passes/origins.h"
#include "src/passes/patterns.h"

namespace fxjit::passes {
namespace {

struct Rule {
  std::string_view from, to;
};

constexpr Rule kRules[] = {
    {"max_pool1d_with_indices", "max_pool1d"},
    {"max_pool2d_with_indices", "max_pool2d"},
    {"max_pool3d_with_indices", "max_pool3d"},
    {"_native_batch_norm_legit_no_training", "batch_norm"},
    {"_scaled_dot_product_flash_attention_for_cpu",
     "scaled_dot_product_attention"},
};

const ops::Op* counterpart(const fx::Node& node) {
  if (const ops::Op* op = node.called_op())
    for (const Rule& rule : kRules)
      if (op->name() == rule.from) return &ops::get_op(rule.to);
  return nullptr;
}

// The node that picks the first result; null where another one is read.
fx::NodePtr only_pick(const fx::Node& node) {
  fx::NodePtr first = nullptr;
  for (fx::NodePtr user : node.users()) {
    if (user->called_op() != &item_op()) return nullptr;
    if (user->num_users() == 0) continue;
    if (user->arg(1).as_int() != 0 || first) return nullptr;
    first = user;
  }
  return first;
}

// By the names that both ops have for an argument; others have their defaults.
ValueList arguments(const fx::Node& node, const ops::Op& to) {
  ValueList args;
  for (const ops::Parameter& parameter : to.parameters) {
    const int at = node.called_op()->index_of(parameter.name);
    args.push_back(at < 0 ? parameter.default_value
                          : node.arg(static_cast<size_t>(at)));
  }
  return args;
}

}  // namespace

int drop_unread_results(ModelGraph& model) {
  return rewrite_each(model, [&](fx::NodePtr node) {
    const ops::Op* const op = counterpart(*node);
    const fx::NodePtr pick = op ? only_pick(*node) : nullptr;
    if (!pick) return false;
    auto scope = model.graph->inserting_before(node);
    const fx::NodePtr single =
        model.graph->call_function(op->canonical, arguments(*node, *op));
    single->set_val(pick->val());
    single->set_source(node->source());
    take_origins(*single, std::vector{node, pick});
    pick->replace_all_uses_with(single);
    return true;
  });
}

}  // namespace fxjit::passes
