#include "src/passes/evaluate.h"

#include <limits>

#include "src/passes/lowering/internal_ops.h"
#include "src/passes/lowering/lower.h"
#include "src/tensor/memory_order.h"

namespace fxjit::passes {
namespace {

Value eager_call(const char* op, ValueList args, Kwargs kwargs = {}) {
  const ops::Op& row = ops::get_op(op);
  const std::vector<Value> bound = ops::bind(row, args, kwargs);
  return ops::run_eager({row, bound});
}

Value run_integer_contract(const Value& input, const Tensor& weight) {
  if (weight.dtype() == DType::i16)
    return eager_call("fxjit.integer_matmul", {input, weight});
  const Value rows = eager_call(
      "reshape", {eager_call("clone", {input}), Dims{-1, weight.size(0)}});
  return eager_call("fxjit.integer_matmul", {rows, weight});
}

Value run_blocked_contract(const ValueList& args) {
  ValueList all{args[0]};
  for (const Value& each : args[1].as_sequence()) all.push_back(each);
  return eager_call("fxjit.blocked_product", all);
}

Value run_contract(const ValueList& args) {
  if (!args[1].as_sequence().back().is_tensor())
    return run_blocked_contract(args);
  ValueList parts;
  if (is_integral(args[0].as_tensor().dtype()))
    return run_integer_contract(args[0], args[1].as_sequence()[0].as_tensor());
  for (const Value& weight : args[1].as_sequence()) {
    const bool whole = is_integral(weight.as_tensor().dtype());
    parts.push_back(eager_call(whole ? "fxjit.weight_product" : "matmul",
                               {args[0], weight}));
  }
  return eager_call("cat", {Value::list(parts), -1});
}

Value run_merged_linear(const ValueList& args) {
  ValueList parts;
  for (size_t i = 0; i < args[1].size(); ++i)
    parts.push_back(eager_call(
        "linear",
        {args[0], args[1].at(i), args[2].is_none() ? Value() : args[2].at(i)}));
  return eager_call("cat", {Value::list(parts), -1});
}

Value run_winograd(const ValueList& args) {
  const Dims before = args[2].as_dims(), after = args[3].as_dims();
  const Value planes = eager_call("permute", {args[0], Dims{0, 3, 1, 2}});
  const Value padded = eager_call(
      "constant_pad_nd",
      {planes, Dims{before[1], after[1], before[0], after[0]}, args[4]});
  const Dims none(2, 0), ones(2, 1);
  const Value sums =
      is_integral(args[0].as_tensor().dtype())
          ? eager_call("fxjit.integer_conv",
                       {padded, args[1], ones, none, none, ones, 1})
          : eager_call("conv2d", {padded, args[1]});
  return eager_call("permute", {sums, Dims{0, 2, 3, 1}});
}

Value masked(const Value& scores, const Value& mask, const Value& kind,
             const Value& number) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  switch (static_cast<MaskKind>(kind.as_int())) {
    case MaskKind::add:
      return eager_call("add", {scores, eager_call("mul", {mask, number})});
    case MaskKind::hide:
      return eager_call("where", {mask, scores, -kInfinity});
    case MaskKind::keep:
      return eager_call("where", {mask, scores, number});
    case MaskKind::fill:
      return eager_call("where", {mask, number, scores});
  }
  return {};
}

Value with_future_hidden(const Value& scores, const Value& causal) {
  if (!causal.as_bool()) return scores;
  const Value seen = eager_call("tril", {eager_call("ones_like", {scores})});
  return eager_call("where", {eager_call("ne", {seen, 0}), scores,
                              -std::numeric_limits<double>::infinity()});
}

// (query, key, value, masks, kinds, numbers, is_causal, scale, zero_rows)
Value run_attention(const ValueList& args) {
  const Value keys = eager_call("transpose", {args[1], -2, -1});
  Value scores = eager_call("matmul", {args[0], keys});
  scores = eager_call("mul", {scores, args[7]});
  for (size_t i = 0; i < args[3].as_sequence().size(); ++i)
    scores = masked(scores, args[3].as_sequence()[i], args[4].as_sequence()[i],
                    args[5].as_sequence()[i]);
  if (!args[8].as_bool())
    return eager_call("matmul", {eager_call("softmax", {scores, -1}), args[2]});
  // Weights of a row that sees nothing are zeros: scores come as a mask.
  const Value q = eager_call("zeros_like", {args[0]});
  return eager_call("scaled_dot_product_attention", {q, args[1], args[2]},
                    {{"attn_mask", with_future_hidden(scores, args[6])}});
}

// (query, key, value, masks, kinds, numbers, scale, inner, zero_rows)
Value run_written_attention(const ValueList& args) {
  return run_attention({args[0], args[1], args[2], args[3], args[4], args[5],
                        false, args[6], args[8]});
}

// Elements laid out in memory as `val` says.
Value arranged(const Value& value, const Value& val) {
  if (!value.is_tensor()) return value;
  const Tensor& wanted = val.as_tensor();
  int64_t last = 0;
  for (int d = 0; d < wanted.dim(); ++d)
    last += std::max<int64_t>(wanted.sizes()[d] - 1, 0) * wanted.strides()[d];
  const Tensor made = Tensor::empty({last + 1}, wanted.dtype())
                          .as_strided(wanted.sizes(), wanted.strides(), 0);
  made.copy_from(value.as_tensor());
  return made;
}

// Offsets of `val` count from the root's first element.
Tensor view_of(const Tensor& root, const Tensor& val) {
  const auto item = static_cast<int64_t>(val.item_size());
  const int64_t start =
      root.offset() * static_cast<int64_t>(root.item_size()) / item;
  return Tensor::view(root.storage(), val.sizes(), val.dtype(), val.strides(),
                      start + val.offset());
}

class ModelEvaluator {
 public:
  ModelEvaluator(const ModelGraph& model, const OnCall& on_call)
      : model_(model), on_call_(on_call) {}

  Value run(const fx::Graph& graph, const ValueList& inputs) {
    std::vector<Value> values(graph.id_bound());
    const auto map = [&](const Value& value) {
      return map_leaves(value, [&](const Value& leaf) {
        return leaf.is_node() ? values[leaf.as_node()->id()] : leaf;
      });
    };
    size_t next = 0;
    for (const fx::Node* node : graph.nodes()) {
      ValueList args;
      for (const Value& arg : node->args()) args.push_back(map(arg));
      if (node->is(fx::Opcode::output)) return args[0];
      values[node->id()] = node->is(fx::Opcode::placeholder)
                               ? inputs.at(next++)
                               : evaluate_node(*node, args);
    }
    throw InternalError("evaluate: no output");
  }

 private:
  Value evaluate_node(const fx::Node& node, const ValueList& args) {
    if (node.is(fx::Opcode::get_attr)) return model_.constant(node);
    if (node.is(fx::Opcode::call_module))
      return run(*model_.region(node).graph, args);
    const Value result = evaluate_call(node, args);
    if (on_call_) on_call_(node, args, result);
    return result;
  }

  static Value evaluate_call(const fx::Node& node, const ValueList& args) {
    const ops::Op& op = *node.called_op();
    if (&op == &as_strided_op())
      return view_of(args[0].as_tensor(), node.val_tensor());
    if (&op == &item_op())
      return args[0].at(static_cast<size_t>(args[1].as_int()));
    if (&op == &contract_op())
      return arranged(eager_call("reshape", {run_contract(args),
                                             node.val_tensor().sizes()}),
                      node.val());
    if (&op == &winograd_op()) return arranged(run_winograd(args), node.val());
    if (&op == &merged_linear_op()) return run_merged_linear(args);
    if (&op == &attention_op())
      return arranged(run_attention(args), node.val());
    if (&op == &written_attention_op())
      return arranged(run_written_attention(args), node.val());
    return as_planned(ops::run_eager({op, args}), node.val());
  }

  const ModelGraph& model_;
  const OnCall& on_call_;
};

// Tensors of the result with their views, in order of appearance.
Value viewed(const ModelGraph& model, const Value& outputs) {
  size_t next = 0;
  return map_leaves(outputs, [&](const Value& leaf) -> Value {
    if (!leaf.is_tensor() || model.results.empty()) return leaf;
    const Tensor& view = model.results.at(next++).view;
    return view.defined() ? view_of(leaf.as_tensor(), view) : leaf;
  });
}

}  // namespace

Value as_planned(const Value& value, const Value& val) {
  size_t next = 0;
  return map_leaves(value, [&](const Value& leaf) -> Value {
    const size_t at = next++;
    if (!leaf.is_tensor()) return leaf;
    const Value planned = val.is_tensor() ? val : val.at(at);
    const bool same =
        same_places(leaf.as_tensor().sizes(), leaf.as_tensor().strides(),
                    planned.as_tensor().strides());
    return same ? leaf : arranged(leaf, planned);
  });
}

Value evaluate(const ModelGraph& model, std::span<const Value> inputs,
               const OnCall& on_call) {
  ValueList tensors;
  for (const Value& input : inputs)
    visit_leaves(input, [&](const Value& leaf) {
      if (leaf.is_tensor()) tensors.push_back(leaf);
    });
  const Value outputs =
      ModelEvaluator(model, on_call).run(*model.graph, tensors);
  return viewed(model, model.written.empty() ? outputs : outputs.at(0));
}

}  // namespace fxjit::passes
