// subgraph_rewriter: where patterns are found and what replacing them leaves.
#include "tests/mirror/rewriter_case.h"

namespace fxjit::mirror {

namespace TEST_FILE {

using fx::Subgraph;
using fx::symbolic_trace;
namespace F = nn::functional;

class Rewriter : public RewriterCase {};

Value neg_plus_relu(Value x) {
  Value negated = neg(x);
  return negated + relu(x);
}
Value double_neg_plus_relu(Value x) {
  Value val = neg_plus_relu(x);
  return add(val, val);
}

Subgraph one(Value (*f)(Value)) { return Subgraph(f, {"x"}); }
Subgraph relu_of_x() {
  return one([](Value x) -> Value { return relu(x); });
}
Subgraph sigmoid_of_x() {
  return one([](Value x) -> Value { return sigmoid(x); });
}
nn::Ref<fx::GraphModule> traced(Value (*f)(Value)) {
  return symbolic_trace(f, {"x"});
}

MIRROR_CASE(Rewriter, preserves_logic) {
  const auto gm = rewrite(traced(double_neg_plus_relu), one(neg_plus_relu),
                          one(neg_plus_relu));
  expect_outputs(gm, {fill({1, 3}, 1)});
}

MIRROR_CASE(Rewriter, single_match) {
  const auto gm =
      rewrite(traced(double_neg_plus_relu), one(neg_plus_relu), relu_of_x());
  expect_outputs(gm, {fill({1, 3}, 1)});
}

MIRROR_CASE(Rewriter, multiple_matches) {
  const auto gm = rewrite(
      symbolic_trace(
          [](Value x, Value w1, Value w2) -> Value {
            Value m1 = method(cat({w1, w2}), "sum");
            Value m2 = method(cat({w1, w2}), "sum");
            Value sum = x + max(m1);
            return sum + max(m2);
          },
          {"x", "w1", "w2"}),
      {[](Value w1, Value w2) -> Value {
         return method(cat({w1, w2}), "sum");
       },
       {"w1", "w2"}},
      {[](Value w1, Value w2) -> Value { return stack({w1, w2}); },
       {"w1", "w2"}});
  expect_outputs(gm, {fill({1, 3}, 1), fill({1, 3}, 2), fill({1, 3}, 3)});
}

MIRROR_CASE(Rewriter, returned_matches) {
  const auto gm = traced(double_neg_plus_relu);
  std::string lines;
  for (const fx::Match& match :
       fx::replace_pattern(*gm, one(neg_plus_relu), relu_of_x()))
    lines += line_of(match) + " ";
  expect_text("matches", lines);
}

MIRROR_CASE(Rewriter, whole_graph) {
  auto f = [](Value x) -> Value {
    Value a = neg(x);
    return add(a, a);
  };
  rewrite(traced(f), one(f), one([](Value x) -> Value {
            Value a = sigmoid(x);
            return cat({a, a});
          }));
}

MIRROR_CASE(Rewriter, output_used_elsewhere) {
  rewrite(traced([](Value x) -> Value {
            Value y = relu(x);
            return neg(y) - y;
          }),
          relu_of_x(), sigmoid_of_x());
}

MIRROR_CASE(Rewriter, inner_node_used_elsewhere) {
  rewrite(symbolic_trace(
              [](Value x, Value w) -> Value {
                Value a = neg(x);
                Value b = relu(a);
                return Value::tuple({b, a + w});
              },
              {"x", "w"}),
          one([](Value x) -> Value { return relu(neg(x)); }), relu_of_x());
}

MIRROR_CASE(Rewriter, consecutive) {
  const auto gm = rewrite(
      traced([](Value x) -> Value { return sigmoid(sigmoid(sigmoid(x))); }),
      sigmoid_of_x(), one([](Value x) -> Value { return exp(x); }));
  expect_outputs(gm, {fill({3, 4}, 1)});
}

MIRROR_CASE(Rewriter, overlapping) {
  rewrite(traced([](Value x) -> Value {
            for (int i = 0; i < 5; ++i) x = sigmoid(x);
            return x;
          }),
          one([](Value x) -> Value { return sigmoid(sigmoid(x)); }),
          relu_of_x());
}

MIRROR_CASE(Rewriter, identity_back_to_back) {
  auto there_and_back = [](Value x) -> Value {
    return method(method(x, "unsqueeze", {0}), "squeeze", {0});
  };
  const auto gm = rewrite(
      symbolic_trace(
          [&](Value x) -> Value {
            x = x + 2;
            for (int i = 0; i < 3; ++i) x = there_and_back(x);
            return method(x, "relu");
          },
          {"x"}),
      {there_and_back, {"x"}}, one([](Value x) -> Value { return x; }));
  expect_outputs(gm, {fill({3, 4}, 1)});
}

MIRROR_CASE(Rewriter, multiple_outputs) {
  rewrite(traced([](Value x) -> Value {
            Value a = sigmoid(x);
            return a + relu(x);
          }),
          {[](Value a) -> Value {
             Value first = sigmoid(a);
             return Value::tuple({first, relu(a)});
           },
           {"a"}},
          one([](Value x) -> Value {
            Value first = exp(x);
            return Value::tuple({first, abs(x)});
          }));
}

MIRROR_CASE(Rewriter, duplicated_outputs) {
  rewrite(symbolic_trace(
              [](Value x1, Value x2) -> Value {
                Value x = x1 - x2;
                Value a = sigmoid(x);
                return a + relu(x);
              },
              {"x1", "x2"}),
          {[](Value a1, Value a2) -> Value {
             Value a = a1 - a2;
             Value b = sigmoid(a);
             return Value::tuple({b, relu(a), a});
           },
           {"a1", "a2"}},
          {[](Value x1, Value x2) -> Value {
             Value y1 = exp(x1);
             Value y2 = abs(x2);
             return Value::tuple({y2, y2, y1});
           },
           {"x1", "x2"}});
}

MIRROR_CASE(Rewriter, unused_arguments) {
  rewrite(symbolic_trace([](Value x, Value y, Value) -> Value { return x + y; },
                         {"x", "y", "z"}),
          {[](Value x, Value y) -> Value { return x + y; }, {"x", "y"}},
          {[](Value x, Value y) -> Value { return x - y; }, {"x", "y"}});
}

MIRROR_CASE(Rewriter, same_input_twice) {
  rewrite(symbolic_trace(
              [](Value x, Value y) -> Value {
                Value twice = x + x;
                return twice * (x + y);
              },
              {"x", "y"}),
          {[](Value a, Value b) -> Value { return a + b; }, {"a", "b"}},
          {[](Value a, Value b) -> Value { return a - b; }, {"a", "b"}});
}

MIRROR_CASE(Rewriter, methods_and_keywords) {
  rewrite(traced([](Value x) -> Value {
            Value a = method(x, "clamp", {}, {{"min", 0.0}, {"max", 1.0}});
            return a + method(x, "clamp", {}, {{"max", 1.0}, {"min", 0.0}});
          }),
          one([](Value x) -> Value {
            return method(x, "clamp", {}, {{"min", 0.0}, {"max", 1.0}});
          }),
          relu_of_x());
}

MIRROR_CASE(Rewriter, literals) {
  auto f = [](Value x) -> Value { return add(add(x, 2), 3); };
  auto times7 = [](Value x) -> Value { return mul(x, 7); };
  rewrite(traced(f), one([](Value x) -> Value { return add(x, 3); }),
          one(times7));
  rewrite(traced(f), one([](Value x) -> Value { return add(x, 9); }),
          one(times7), {.ignore_literals = true});
}

MIRROR_CASE(Rewriter, wildcards_for_literals) {
  auto f = [](Value x, Value y) -> Value {
    return add(add(add(x, 2), y), 4.5);
  };
  const Subgraph pattern([](Value x, Value n) -> Value { return add(x, n); },
                         {"x", "n"});
  const Subgraph replacement(
      [](Value x, Value n) -> Value { return mul(x, n); }, {"x", "n"});
  rewrite(symbolic_trace(f, {"x", "y"}), pattern, replacement);
  rewrite(symbolic_trace(f, {"x", "y"}), pattern, replacement,
          {.match_filters = {[](const fx::passes::InternalMatch& match,
                                const fx::Graph&, const fx::Graph&) {
             return match.placeholder_nodes[1].is_number();
           }}});
}

MIRROR_CASE(Rewriter, wildcards_for_lists) {
  rewrite(symbolic_trace(
              [](Value x, Value y, Value z) -> Value {
                return cat({cat({x, y}, 1), z}, 0);
              },
              {"x", "y", "z"}),
          {[](Value tensors) -> Value { return cat(tensors, 1); }, {"tensors"}},
          {[](Value tensors) -> Value { return stack(tensors, 1); },
           {"tensors"}});
}

MIRROR_CASE(Rewriter, callback) {
  const auto gm =
      traced([](Value x) -> Value { return add(add(x, 2), 3); });
  fx::RewriteOptions options;
  options.replacement_callback = [](const fx::passes::InternalMatch& match,
                                    const fx::Graph&, const fx::Graph&) {
    auto graph = std::make_unique<fx::Graph>();
    const fx::NodePtr x = graph->placeholder("x");
    const fx::NodePtr n = graph->placeholder("n");
    const bool times = match.placeholder_nodes[1].as_int() == 3;
    graph->output(
        graph->call_function(times ? "torch.mul" : "torch.sub", {x, n}));
    return Subgraph(std::move(graph));
  };
  rewrite(gm, fx::replace_pattern_with_filters(
                  *gm,
                  {[](Value x, Value n) -> Value { return add(x, n); },
                   {"x", "n"}},
                  options));
}

MIRROR_CASE(Rewriter, node_names) {
  rewrite(traced([](Value x) -> Value { return sigmoid(relu(neg(x))); }),
          one([](Value x) -> Value { return abs(x); }),
          one([](Value x) -> Value { return exp(x); }),
          {.node_name_match = "relu"});
}

MIRROR_CASE(Rewriter, aten_defaults) {
  auto aten_add = [](Value x, Value y, Kwargs kwargs) {
    return function("torch.ops.aten.add.Tensor", {x, y}, std::move(kwargs));
  };
  rewrite(symbolic_trace(
              [&](Value x, Value y) -> Value {
                return aten_add(aten_add(x, y, {{"alpha", 1}}), y, {});
              },
              {"x", "y"}),
          {[&](Value x, Value y) -> Value { return aten_add(x, y, {}); },
           {"x", "y"}},
          {[](Value x, Value y) -> Value { return mul(x, y); }, {"x", "y"}});
}

MIRROR_CASE(Rewriter, refusals) {
  const auto gm = traced(double_neg_plus_relu);
  const std::string before = gm->graph().str();
  const Subgraph two([](Value x, Value y) -> Value { return x + y; },
                     {"x", "y"});
  const Subgraph pair(
      [](Value x) -> Value { return Value::tuple({x, x}); }, {"x"});
  expect_error([&] { fx::replace_pattern(*gm, relu_of_x(), two); });
  expect_error([&] { fx::replace_pattern(*gm, relu_of_x(), pair); });
  const fx::Graph empty;
  expect_error([&] { fx::replace_pattern(*gm, empty, relu_of_x()); });
  expect_error([&] {
    fx::replace_pattern_with_filters(*gm, relu_of_x(), fx::RewriteOptions{});
  });
  fx::Graph dead;
  const fx::NodePtr x = dead.placeholder("x");
  dead.call_function("torch.relu", {x});
  dead.output(dead.call_function("torch.neg", {x}));
  expect_error([&] { fx::replace_pattern(*gm, dead, relu_of_x()); });
  EXPECT_EQ(gm->graph().str(), before);
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
