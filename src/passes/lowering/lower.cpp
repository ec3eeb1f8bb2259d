#include "src/passes/lowering/lower.h"

#include "src/passes/lowering/lowerings.h"
#include "src/passes/memory/result_order.h"
#include "src/passes/rebuild.h"

namespace fxjit::passes {

Tensor val_of(const Value& proxy) {
  return proxy.as_proxy()->val().as_tensor();
}

Value call(GraphBuilder& builder, std::string_view op, const ValueList& args) {
  const ops::Op& row = ops::get_op(op);
  return builder.call(row, ops::bind(row, args, {}));
}

ModelGraph lower(const ModelGraph& model, const LowerOptions& how) {
  GraphBuilder::Options options;
  options.lower = lower_call;
  options.lowering = &how;
  options.folded = model.folded.get();
  const std::vector<Tensor> wanted =
      how.results.empty() ? layouts_of_results(model) : how.results;
  const auto for_results = calls_for_results(model);
  return rebuild(model, options,
                 [&](GraphBuilder& b, const fx::Node& node, ValueList& args) {
                   if (node.is(fx::Opcode::output))
                     args[0] = results_in_order(b, args[0], wanted);
                   else if (for_results.contains(&node))
                     return call_in_order_of(b, *node.called_op(), args,
                                             node.val_tensor());
                   else if (node.called_op() && node.val().is_tensor())
                     return lower_node(b, node, args);
                   return Value();
                 });
}

}  // namespace fxjit::passes
