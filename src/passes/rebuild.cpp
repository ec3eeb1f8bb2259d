#include "src/passes/rebuild.h"

#include "src/passes/lowering/internal_ops.h"

namespace fxjit::passes {
namespace {

Value call_again(GraphBuilder& builder, const fx::Node& node,
                 ValueList& args) {
  const ops::Op& op = *node.called_op();
  // Several results are handled when their call is made.
  if (&op == &item_op() && args[0].is_sequence())
    return args[0].at(static_cast<size_t>(args[1].as_int()));
  return builder.call(op, std::move(args));
}

Value output_of(GraphBuilder& builder, const fx::Node& node,
                const Value& result, const RebuildFn& replace) {
  ValueList args{result};
  if (!replace) return result;
  replace(builder, node, args);
  return args[0];
}

}  // namespace

ModelGraph rebuild(const ModelGraph& model, GraphBuilder::Options options,
                   const RebuildFn& replace) {
  GraphBuilder builder(options);
  std::vector<Value> values(model.graph->id_bound());
  const auto map = [&](const Value& value) {
    return map_leaves(value, [&](const Value& leaf) {
      return leaf.is_node() ? values[leaf.as_node()->id()] : leaf;
    });
  };
  for (fx::NodePtr node : model.graph->nodes()) {
    builder.set_origin(node);
    Value& value = values[node->id()];
    switch (node->op()) {
      case fx::Opcode::placeholder:
        value = builder.placeholder(node->name(), node->val());
        break;
      case fx::Opcode::get_attr:
        value = builder.constant(model.constant(*node),
                                 node->meta().contains("computed"));
        break;
      case fx::Opcode::output:
        return builder.finish(output_of(builder, *node, map(node->arg(0)),
                                        replace));
      default: {
        ValueList args;
        for (const Value& arg : node->args()) args.push_back(map(arg));
        if (replace) value = replace(builder, *node, args);
        if (value.is_none()) value = call_again(builder, *node, args);
      }
    }
  }
  throw InternalError("rebuild: the graph has no output");
}

}  // namespace fxjit::passes
