#include "src/passes/lowering/lower.h"

#include <algorithm>

#include "src/passes/fusing/loop_facts.h"
#include "src/passes/lowering/lowerings.h"
#include "src/passes/memory/result_order.h"
#include "src/passes/origins.h"
#include "src/tensor/sizes/table.h"

namespace fxjit::passes {
namespace {

// Calls without inputs may give tensors: what takes them looks for proxies.
Value as_constants(GraphBuilder& builder, const Value& value) {
  return map_leaves(value, [&](const Value& leaf) {
    return leaf.is_tensor() ? builder.constant(leaf.as_tensor(), true) : leaf;
  });
}

// A call of a normalised graph, lowered; `args` are of the builder.
Value lowered_call(GraphBuilder& builder, const fx::Node& node, ValueList& args,
                   bool for_results) {
  const ops::Op& op = *node.called_op();
  Value value;
  if (for_results)
    value = call_in_order_of(builder, op, args, node.val_tensor());
  else if (node.val().is_tensor())
    value = lower_node(builder, node, args);
  if (!value.is_none()) return value;
  // Several results are handled when their call is made.
  if (&op == &item_op() && args[0].is_sequence())
    return args[0].at(static_cast<size_t>(args[1].as_int()));
  return as_constants(builder, builder.call(op, std::move(args)));
}

}  // namespace

Tensor val_of(const Value& proxy) {
  return proxy.as_proxy()->val().as_tensor();
}

Value call(GraphBuilder& builder, std::string_view op, const ValueList& args) {
  const ops::Op& row = ops::get_op(op);
  return builder.call(row, ops::bind(row, args, {}));
}

bool all_of_type(const ValueList& args, DType dtype) {
  bool result = true;
  for (const Value& arg : args)
    visit_leaves(arg, [&](const Value& leaf) {
      if (leaf.is_proxy()) result = result && val_of(leaf).dtype() == dtype;
    });
  return result;
}

Dims leading_of(const Value& x) {
  Dims sizes = val_of(x).sizes();
  sizes.resize(sizes.size() - 2);
  return sizes;
}

Value expand_leading(GraphBuilder& builder, const Value& x, Dims leading) {
  const Tensor t = val_of(x);
  leading.push_back(t.size(-2));
  leading.push_back(t.size(-1));
  return t.sizes() == leading ? x : call(builder, "expand", {x, leading});
}

Value with_last_dim_dense(GraphBuilder& builder, const Value& x) {
  return val_of(x).size(-1) > 1 && val_of(x).stride(-1) != 1
             ? builder.call(materialize_op(), {x})
             : x;
}

Value operand_in_order(GraphBuilder& builder, const Value& x,
                       const Dims& order) {
  const bool tensor = x.is_proxy() && x.as_proxy()->val().is_tensor();
  if (!tensor || val_of(x).dim() == 0) return x;
  const Tensor t = val_of(x);
  Dims sizes(order.size() - t.dim(), 1);
  for (Size size : t.sizes()) sizes.push_back(size);
  const bool whole = t.dim() == order.size();
  const Value wide = whole ? x : call(builder, "reshape", {x, sizes});
  return call(builder, "permute", {wide, order});
}

Value in_logical_order(GraphBuilder& builder, const Value& x,
                       const Dims& order) {
  Dims sorted = order, places;
  std::sort(sorted.begin(), sorted.end());
  for (int64_t d : sorted) places.push_back(place_in(order, d));
  return call(builder, "permute", {x, places});
}

int64_t place_in(const Dims& order, int64_t dim) {
  return std::find(order.begin(), order.end(), dim) - order.begin();
}

bool reads_position(const ops::Op& op, const ValueList& args) {
  return has_index(ops::scalar_body({op, meta_of(args)}));
}

ModelGraph lower(const ModelGraph& model, const LowerOptions& how) {
  GraphBuilder::Options options;
  options.lower = lower_call;
  options.lowering = &how;
  options.folded = model.folded.get();
  const std::vector<Tensor> wanted =
      how.results.empty() ? layouts_of_results(model) : how.results;
  const auto for_results = calls_for_results(model);
  GraphBuilder builder(options);
  builder.adopt(model.made);
  std::vector<Value> values(model.graph->id_bound());
  const auto map = [&](const Value& value) {
    return map_leaves(value, [&](const Value& leaf) {
      return leaf.is_node() ? values[leaf.as_node()->id()] : leaf;
    });
  };
  for (fx::NodePtr node : model.graph->nodes()) {
    builder.set_origin(node);
    const SizeTable::Asker asker(node.get(), line_of);
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
        return builder.finish(
            results_in_order(builder, map(node->arg(0)), wanted));
      default: {
        ValueList args;
        for (const Value& arg : node->args()) args.push_back(map(arg));
        value = lowered_call(builder, *node, args, for_results.contains(node));
      }
    }
  }
  throw InternalError("lower: the graph has no output");
}

}  // namespace fxjit::passes
