#include "tests/passes/pass_testing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <sstream>

#include "src/ops/table/aliasing.h"
#include "src/passes/lowering/internal_ops.h"
#include "src/passes/lowering/lower.h"
#include "src/tensor/memory_order.h"
#include "tests/ops/storages.h"

namespace fxjit::testing {

using passes::ModelGraph;
using passes::Region;

Tensor random_tensor(const Dims& sizes, uint32_t seed) {
  std::mt19937 random(seed);
  Tensor made = Tensor::empty(sizes);
  float* const values = made.data_as<float>();
  for (int64_t i = 0; i < made.numel(); ++i)
    values[i] = static_cast<float>(random()) / 2147483648.0f - 1;
  return made;
}

Tensor random_index(const Dims& sizes, int64_t bound, uint32_t seed) {
  std::mt19937 random(seed);
  Tensor made = Tensor::empty(sizes, DType::i64);
  auto* const values = made.data_as<int64_t>();
  for (int64_t i = 0; i < made.numel(); ++i)
    values[i] = static_cast<int64_t>(random()) % bound;
  return made;
}

Passed run_passes(nn::Ref<fx::GraphModule> module, ValueList inputs,
                  std::vector<std::string> disabled) {
  passes::PipelineOptions options;
  options.disabled = std::move(disabled);
  return run_passes_with(std::move(options), std::move(module),
                         std::move(inputs));
}

Passed run_passes_with(passes::PipelineOptions options,
                       nn::Ref<fx::GraphModule> module, ValueList inputs) {
  Passed passed;
  options.observer = [&](std::string_view pass, const ModelGraph&) {
    passed.changed.emplace_back(pass);
  };
  passed.model = passes::run_pipeline(*module, inputs, options);
  passed.module = std::move(module);
  passed.inputs = std::move(inputs);
  return passed;
}

namespace {

std::string_view short_name(const fx::Node& node) {
  std::string_view name = node.called_op()->name();
  if (name.starts_with("fxjit.")) name.remove_prefix(6);
  return name;
}

const char* kind_name(Region::Kind kind) {
  constexpr const char* kNames[] = {"rows",      "columns", "contraction",
                                    "attention", "copies",  "call"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace

std::vector<std::string> regions(const ModelGraph& model) {
  std::vector<std::string> texts;
  for (const fx::Node* node : model.graph->nodes()) {
    if (!node->is(fx::Opcode::call_module)) continue;
    const Region& region = model.region(*node);
    std::string text = kind_name(region.kind);
    char separator = ':';
    for (const fx::Node* member : region.graph->nodes()) {
      if (!member->called_op()) continue;
      text += separator;
      if (separator == ':') text += ' ';
      text += short_name(*member);
      separator = '+';
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

std::vector<std::string> calls(const ModelGraph& model) {
  std::vector<std::string> names;
  for (const fx::Node* node : model.graph->nodes())
    if (node->called_op() &&
        node->called_op()->row.lowering != ops::Lowering::view)
      names.emplace_back(short_name(*node));
  return names;
}

namespace {

Value call(const char* op, ValueList args, Kwargs kwargs = {}) {
  const ops::Op& row = ops::get_op(op);
  const std::vector<Value> bound = ops::bind(row, args, kwargs);
  return ops::run_eager({row, bound});
}

Value contract(const ValueList& args) {
  ValueList parts;
  for (const Value& weight : args[1].as_sequence())
    parts.push_back(call("matmul", {args[0], weight}));
  return call("cat", {Value::list(parts), -1});
}

Value merged_linear(const ValueList& args) {
  ValueList parts;
  for (size_t i = 0; i < args[1].size(); ++i)
    parts.push_back(call(
        "linear",
        {args[0], args[1].at(i), args[2].is_none() ? Value() : args[2].at(i)}));
  return call("cat", {Value::list(parts), -1});
}

Value winograd(const ValueList& args) {
  const Dims before = args[2].as_dims(), after = args[3].as_dims();
  const Value planes = call("permute", {args[0], Dims{0, 3, 1, 2}});
  const Value padded =
      call("constant_pad_nd",
           {planes, Dims{before[1], after[1], before[0], after[0]}, 0.0});
  return call("permute", {call("conv2d", {padded, args[1]}), Dims{0, 2, 3, 1}});
}

Value masked(const Value& scores, const Value& mask, const Value& kind,
             const Value& number) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  switch (static_cast<passes::MaskKind>(kind.as_int())) {
    case passes::MaskKind::add:
      return call("add", {scores, call("mul", {mask, number})});
    case passes::MaskKind::hide:
      return call("where", {mask, scores, -kInfinity});
    case passes::MaskKind::keep:
      return call("where", {mask, scores, number});
    case passes::MaskKind::fill:
      return call("where", {mask, number, scores});
  }
  return {};
}

Value with_future_hidden(const Value& scores, const Value& causal) {
  if (!causal.as_bool()) return scores;
  const Value seen = call("tril", {call("ones_like", {scores})});
  return call("where", {call("ne", {seen, 0}), scores,
                        -std::numeric_limits<double>::infinity()});
}

// (query, key, value, masks, kinds, numbers, is_causal, scale, zero_rows)
Value attention(const ValueList& args) {
  Value scores =
      call("matmul", {args[0], call("transpose", {args[1], -2, -1})});
  scores = call("mul", {scores, args[7]});
  for (size_t i = 0; i < args[3].as_sequence().size(); ++i)
    scores = masked(scores, args[3].as_sequence()[i], args[4].as_sequence()[i],
                    args[5].as_sequence()[i]);
  if (!args[8].as_bool())
    return call("matmul", {call("softmax", {scores, -1}), args[2]});
  // Weights of a row that sees nothing are zeros: scores come as a mask.
  const Value q = call("zeros_like", {args[0]});
  return call("scaled_dot_product_attention", {q, args[1], args[2]},
              {{"attn_mask", with_future_hidden(scores, args[6])}});
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

// What the interpreter gives, laid out as the graph says.
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

// Offsets of `val` count from the root's first element.
Tensor view_of(const Tensor& root, const Tensor& val) {
  const auto item = static_cast<int64_t>(val.item_size());
  const int64_t start =
      root.offset() * static_cast<int64_t>(root.item_size()) / item;
  return Tensor::view(root.storage(), val.sizes(), val.dtype(), val.strides(),
                      start + val.offset());
}

class Evaluator {
 public:
  explicit Evaluator(const ModelGraph& model) : model_(model) {}

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
    EXPECT_EQ(memories(result, args),
              memories(ops::result_memory({*node.called_op(), args}, result)))
        << node.name() << ": " << node.called_op()->name();
    return result;
  }

  static Value evaluate_call(const fx::Node& node, const ValueList& args) {
    const ops::Op& op = *node.called_op();
    if (&op == &passes::as_strided_op())
      return view_of(args[0].as_tensor(), node.val_tensor());
    if (&op == &passes::item_op())
      return args[0].at(static_cast<size_t>(args[1].as_int()));
    if (&op == &passes::contract_op())
      return arranged(contract(args), node.val());
    if (&op == &passes::winograd_op())
      return arranged(winograd(args), node.val());
    if (&op == &passes::merged_linear_op()) return merged_linear(args);
    if (&op == &passes::attention_op())
      return arranged(attention(args), node.val());
    return as_planned(ops::run_eager({op, args}), node.val());
  }

  const ModelGraph& model_;
};

bool close(double got, double expected) {
  if (got == expected || (std::isnan(got) && std::isnan(expected))) return true;
  return std::abs(got - expected) <= 1e-6 + 1e-5 * std::abs(expected);
}

std::string tensor_difference(const Tensor& got, const Tensor& expected) {
  if (got.describe() != expected.describe())
    return "expected " + expected.describe() + ", got " + got.describe();
  if (!same_places(expected.sizes(), expected.strides(), got.strides()))
    return "expected strides " + expected.strides().str() + ", got " +
           got.strides().str();
  const Tensor a = got.to(DType::f64).contiguous();
  const Tensor b = expected.to(DType::f64).contiguous();
  for (int64_t i = 0; i < b.numel(); ++i) {
    const double x = a.data_as<double>()[i], y = b.data_as<double>()[i];
    if (close(x, y)) continue;
    std::ostringstream text;
    text << "element " << i << ": expected " << y << ", got " << x;
    return text.str();
  }
  return "";
}

std::string difference(const Value& got, const Value& expected) {
  if (got.kind() != expected.kind())
    return "expected " + std::string(expected.kind_name()) + ", got " +
           std::string(got.kind_name());
  if (got.is_tensor())
    return tensor_difference(got.as_tensor(), expected.as_tensor());
  if (!got.is_sequence()) return same(got, expected) ? "" : "values differ";
  if (got.size() != expected.size()) return "sizes differ";
  for (size_t i = 0; i < got.size(); ++i)
    if (const std::string text = difference(got.at(i), expected.at(i));
        !text.empty())
      return "item " + std::to_string(i) + ": " + text;
  return "";
}

}  // namespace

Value evaluate(const ModelGraph& model, const ValueList& inputs) {
  ValueList tensors;
  for (const Value& input : inputs)
    visit_leaves(input, [&](const Value& leaf) {
      if (leaf.is_tensor()) tensors.push_back(leaf);
    });
  const Value outputs = Evaluator(model).run(*model.graph, tensors);
  size_t next = 0;
  return map_leaves(outputs, [&](const Value& leaf) -> Value {
    if (!leaf.is_tensor() || model.results.empty()) return leaf;
    const Tensor& view = model.results.at(next++).view;
    return view.defined() ? view_of(leaf.as_tensor(), view) : leaf;
  });
}

std::string wrong_result(const Passed& passed) {
  return difference(evaluate(passed.model, passed.inputs),
                    passed.module->interpret(passed.inputs));
}

}  // namespace fxjit::testing
