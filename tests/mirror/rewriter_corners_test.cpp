// subgraph_rewriter: corners where matches, edits and results meet.
#include <cmath>

#include "fxjit/fx/passes/subgraph_matcher.h"
#include "tests/mirror/rewriter_case.h"

namespace fxjit::mirror {
namespace TEST_FILE {

using fx::Subgraph;
using fx::symbolic_trace;
namespace passes = fx::passes;

class RewriterCorners : public RewriterCase {
 protected:
  void found(const fx::GraphModule& gm, const fx::Graph& pattern,
             const passes::MatcherOptions& options) {
    std::string lines;
    const passes::SubgraphMatcher matcher(pattern, options);
    for (const passes::InternalMatch& match : matcher.match(gm.graph())) {
      if (!lines.empty()) lines += "\n";
      for (const auto& [node, value] : match.nodes_map)
        lines += std::string(node->name()) + "=" + text_of(value) + " ";
      lines += "|";
      for (const Value& value : match.placeholder_nodes)
        lines += " " + text_of(value);
      lines += " |";
      for (const fx::Node* node : match.returning_nodes)
        lines += " " + std::string(node->name());
    }
    expect_text("found", lines);
  }
};

using One = Value (*)(Value);
using Two = Value (*)(Value, Value);

Subgraph one(One f) { return Subgraph(f, {"x"}); }
Subgraph two(Two f) { return Subgraph(f, {"x", "y"}); }
nn::Ref<fx::GraphModule> traced(One f) { return symbolic_trace(f, {"x"}); }
nn::Ref<fx::GraphModule> traced(Two f) {
  return symbolic_trace(f, {"x", "y"});
}
Value relu_of(Value x) { return relu(x); }
Subgraph relu_of_x() { return one(relu_of); }

Value relu_and_sigmoid(Value x) {
  Value left = relu(x);
  return add(left, sigmoid(x));
}
Value both(Value x) {
  Value left = relu(x);
  return Value::tuple({left, sigmoid(x)});
}

class Layers : public nn::Custom<Layers> {
 public:
  Layers() : Custom("Layers", {"x"}) {
    first = register_module("first", nn::Linear::create(4, 4));
    second = register_module("second", nn::Linear::create(4, 4));
    act = register_module("act", nn::ReLU::create());
    w = register_parameter("w", Tensor::zeros({4}));
    v = register_parameter("v", Tensor::full({4}, 1));
    b = register_buffer("b", Tensor::full({4}, 1));
  }
  Value forward(Value x) {
    Value top = act(first(x));
    Value scaled = top * w.value();
    Value y = scaled + b.value();
    Value end = act(second(y));
    return end * v.value();
  }
  nn::Ref<nn::Linear> first, second;
  nn::Ref<nn::ReLU> act;
  nn::Parameter w, v;
  nn::Buffer b;
};
nn::Ref<fx::GraphModule> layers() {
  return symbolic_trace(filled(Layers::create()));
}

class NamedPattern : public nn::Custom<NamedPattern> {
 public:
  NamedPattern() : Custom("Pattern", {"x"}) {
    first = register_module("first", nn::Linear::create(4, 4));
    act = register_module("act", nn::ReLU::create());
  }
  Value forward(Value x) { return act(first(x)); }
  nn::Ref<nn::Linear> first;
  nn::Ref<nn::ReLU> act;
};

class NamedReplacement : public nn::Custom<NamedReplacement> {
 public:
  NamedReplacement() : Custom("Replacement", {"x"}) {
    second = register_module("second", nn::Linear::create(4, 4));
  }
  Value forward(Value x) { return tanh(second(x)); }
  nn::Ref<nn::Linear> second;
};

class WithTensor : public nn::Custom<WithTensor> {
 public:
  WithTensor(bool buffer, bool adds) : Custom("Pattern", {"x"}), adds_(adds) {
    if (buffer) {
      register_buffer("p", Tensor::full({2}, 1));
    } else {
      register_parameter("p", Tensor::full({2}, 1));
    }
  }
  Value forward(Value x) {
    Value p = param("p");
    return adds_ ? x + p : x * p;
  }

 private:
  bool adds_;
};

MIRROR_CASE(RewriterCorners, diamond) {
  auto f = [](Value x) -> Value {
    Value a = neg(x);
    Value sum = relu_and_sigmoid(a);
    return sum + method(a, "sum");
  };
  const auto gm =
      rewrite(traced(f), one(relu_and_sigmoid),
              one([](Value x) -> Value { return mul(x, 2); }));
  expect_outputs(gm, {fill({3, 4}, 1)});
  rewrite(traced(f),
          one([](Value x) -> Value { return relu_and_sigmoid(neg(x)); }),
          relu_of_x());
}

MIRROR_CASE(RewriterCorners, diamond_of_two_inputs) {
  auto f = [](Value x, Value y) -> Value {
    Value same = relu_and_sigmoid(x);
    Value left = relu(x);
    Value other = add(left, sigmoid(y));
    return same * other;
  };
  rewrite(traced(f), one(relu_and_sigmoid), relu_of_x());
  rewrite(traced(f), two([](Value x, Value y) -> Value {
            Value left = relu(x);
            return add(left, sigmoid(y));
          }),
          two([](Value x, Value y) -> Value { return x - y; }));
}

MIRROR_CASE(RewriterCorners, not_commutative) {
  rewrite(traced([](Value x, Value y) -> Value {
            Value first = add(x, neg(y));
            return first + add(neg(x), y);
          }),
          two([](Value x, Value y) -> Value { return add(x, neg(y)); }),
          two([](Value x, Value y) -> Value { return sub(x, y); }));
}

MIRROR_CASE(RewriterCorners, spellings) {
  auto f = [](Value x) -> Value {
    Value a = function("torch.clamp", {x, 0.0, 1.0});
    Value b = function("torch.clamp", {x}, {{"min", 0.0}, {"max", 1.0}});
    Value c = function("torch.clamp", {x, 0, 1});
    Value d = method(x, "clamp", {0.0, 1.0});
    return a + b + c + d;
  };
  rewrite(traced(f), one([](Value x) -> Value {
            return function("torch.clamp", {x, 0.0, 1.0});
          }),
          relu_of_x());
  rewrite(traced(f), one([](Value x) -> Value {
            return function("torch.clamp", {x}, {{"min", 0.0}, {"max", 1.0}});
          }),
          relu_of_x());
  rewrite(traced(f), one([](Value x) -> Value {
            return method(x, "clamp", {0.0, 1.0});
          }),
          relu_of_x());
}

MIRROR_CASE(RewriterCorners, literals_of_every_type) {
  const Value all = Value::slice(None, None);
  auto from = [&](int start) {
    return Value::tuple({all, Value::slice(start, None)});
  };
  auto f = [&](Value x) -> Value {
    Value a = function("torch.sum", {x, 1, true});
    Value one = add(x, 1);
    Value b = one + add(x, 1.0);
    b = b + add(x, true);
    Value c = function("torch.sum", {x, Value::list({1}), true});
    Value d = function("torch.sum", {x, Value::tuple({1}), true});
    Value e = add(x, HUGE_VAL);
    return Value::tuple({a, b, c, d, e, getitem(x, from(1))});
  };
  auto try_pattern = [&](std::function<Value(Value)> pattern) {
    rewrite(symbolic_trace(f, {"x"}), Subgraph(pattern, {"x"}), relu_of_x());
  };
  try_pattern([](Value x) { return function("torch.sum", {x, 1, true}); });
  try_pattern([](Value x) {
    return function("torch.sum", {x, Value::list({1}), true});
  });
  for (const Value& number :
       {Value(1), Value(1.0), Value(true), Value(HUGE_VAL)})
    try_pattern([number](Value x) { return add(x, number); });
  for (const int start : {1, 2})
    try_pattern([&, start](Value x) { return getitem(x, from(start)); });
}

MIRROR_CASE(RewriterCorners, returned_input) {
  const auto gm = rewrite(traced([](Value x, Value y) -> Value {
                            Value a = neg(x);
                            Value left = relu(a);
                            return left + relu(y);
                          }),
                          relu_of_x(), one([](Value x) -> Value { return x; }));
  expect_outputs(gm, {fill({3, 4}, 1), fill({3, 4}, 2)});
}

MIRROR_CASE(RewriterCorners, whole_result_of_the_graph) {
  auto f = [](Value x) -> Value {
    Value a = relu(x);
    return Value::tuple({neg(a), a});
  };
  rewrite(traced(f), relu_of_x(),
          one([](Value x) -> Value { return sigmoid(x); }));
  rewrite(traced(f), one([](Value x) -> Value { return neg(x); }),
          one([](Value x) -> Value { return x * -1; }));
}

MIRROR_CASE(RewriterCorners, several_results_in_place) {
  const auto gm = rewrite(traced([](Value x, Value y) -> Value {
                            Value a = neg(x);
                            Value b = relu(y);
                            Value c = add(a, 1);
                            Value d = add(b, 2);
                            return Value::tuple({mul(c, d), b});
                          }),
                          two([](Value x, Value y) -> Value {
                            Value first = add(x, 1);
                            return Value::tuple({first, add(y, 2)});
                          }),
                          two([](Value x, Value y) -> Value {
                            Value first = x * 3;
                            return Value::tuple({first, y * 4});
                          }));
  expect_outputs(gm, {fill({3, 4}, 1), fill({3, 4}, 2)});
}

MIRROR_CASE(RewriterCorners, results_swapped) {
  const auto gm = rewrite(traced([](Value x) -> Value {
                            Value left = sigmoid(x);
                            return left - relu(x);
                          }),
                          one(both), one([](Value x) -> Value {
                            Value first = exp(x);
                            return Value::tuple({first, abs(x)});
                          }));
  expect_outputs(gm, {fill({3, 4}, 1)});
}

MIRROR_CASE(RewriterCorners, unused_results) {
  rewrite(traced([](Value x) -> Value {
            relu(x);
            return neg(x);
          }),
          relu_of_x(), one([](Value x) -> Value { return sigmoid(abs(x)); }));
}

MIRROR_CASE(RewriterCorners, more_and_fewer_results) {
  const auto gm = traced([](Value x) -> Value {
    Value left = relu(x);
    return left + sigmoid(x);
  });
  const std::string before = gm->graph().str();
  expect_error([&] { fx::replace_pattern(*gm, one(both), relu_of_x()); });
  expect_error([&] { fx::replace_pattern(*gm, relu_of_x(), one(both)); });
  expect_error([&] {
    fx::replace_pattern(*gm, relu_of_x(),
                        one([](Value) -> Value { return None; }));
  });
  EXPECT_EQ(gm->graph().str(), before);
}

MIRROR_CASE(RewriterCorners, no_inputs) {
  auto single = [](const char* function, int count) {
    auto graph = std::make_unique<fx::Graph>();
    graph->output(graph->call_function(function, {count}));
    return Subgraph(std::move(graph));
  };
  auto graph = std::make_unique<fx::Graph>();
  fx::NodePtr x = graph->placeholder("x");
  const std::pair<const char*, int> constants[] = {
      {"torch.zeros", 3}, {"torch.zeros", 4}, {"torch.ones", 3}};
  for (const auto& [function, count] : constants) {
    const fx::NodePtr made = graph->call_function(function, {count});
    x = graph->call_function("torch.mul", {x, made});
  }
  graph->output(x);
  rewrite(fx::GraphModule::create(nn::Module(), std::move(graph)),
          single("torch.zeros", 3), single("torch.ones", 5));
}

MIRROR_CASE(RewriterCorners, in_place_calls) {
  auto f = [](Value x) -> Value {
    Value y = neg(x);
    method(y, "add_", {1});
    return relu(y);
  };
  rewrite(traced(f), relu_of_x(),
          one([](Value x) -> Value { return abs(x); }));
  rewrite(traced(f), one([](Value x) -> Value { return method(x, "add_", {1}); }),
          one([](Value x) -> Value { return method(x, "mul_", {2}); }));
  rewrite(traced(f), one([](Value x) -> Value { return neg(x); }),
          one([](Value x) -> Value { return x * -1; }));
}

MIRROR_CASE(RewriterCorners, modules_match_by_name) {
  const auto gm = rewrite(layers(), symbolic_trace(NamedPattern::create()),
                          symbolic_trace(NamedReplacement::create()));
  std::string children;
  for (const auto& [name, module] : gm->named_modules())
    if (!name.empty()) children += (children.empty() ? "" : " ") + name;
  expect_text("children", children);
  expect_outputs(gm, {fill({3, 4}, 1)});
}

MIRROR_CASE(RewriterCorners, attributes_match_by_kind) {
  for (const bool buffer : {false, true})
    for (const bool adds : {false, true})
      rewrite(layers(), symbolic_trace(WithTensor::create(buffer, adds)),
              relu_of_x());
}

MIRROR_CASE(RewriterCorners, overlapping_diamonds) {
  auto f = [](Value x) -> Value {
    Value a = neg(x);
    Value b = neg(a);
    Value c = neg(b);
    return add(b, c);
  };
  rewrite(traced(f), one([](Value x) -> Value { return neg(neg(x)); }),
          relu_of_x());
  rewrite(traced(f),
          two([](Value x, Value y) -> Value { return add(neg(x), y); }),
          two([](Value x, Value y) -> Value { return sub(y, x); }));
}

MIRROR_CASE(RewriterCorners, matches_in_a_row_with_changed_inputs) {
  const auto gm = rewrite(
      traced([](Value x, Value y) -> Value {
        Value a = add(x, y);
        Value b = add(a, y);
        return add(b, a);
      }),
      two([](Value x, Value y) -> Value { return add(x, y); }),
      two([](Value x, Value y) -> Value { return sub(mul(x, 2), y); }));
  expect_outputs(gm, {fill({3, 4}, 1), fill({3, 4}, 2)});
}

MIRROR_CASE(RewriterCorners, matchers_by_option) {
  const auto gm = traced([](Value x) -> Value {
    Value y = neg(neg(neg(x)));
    return relu(neg(y));
  });
  const auto pattern =
      traced([](Value x) -> Value { return neg(neg(x)); });
  for (const passes::MatcherOptions& options :
       {passes::MatcherOptions{},
        passes::MatcherOptions{.remove_overlapping_matches = false},
        passes::MatcherOptions{.match_output = true},
        passes::MatcherOptions{.match_placeholder = true}})
    found(*gm, pattern->graph(), options);
  const auto end = traced([](Value x) -> Value { return relu(neg(x)); });
  found(*gm, end->graph(), {.match_output = true});
}

MIRROR_CASE(RewriterCorners, filters_see_earlier_state) {
  std::vector<std::string> seen;
  fx::RewriteOptions options;
  options.match_filters = {[&](const passes::InternalMatch& match,
                               const fx::Graph&, const fx::Graph&) {
    seen.push_back(text_of(match.placeholder_nodes[0]));
    return seen.size() == 2;
  }};
  rewrite(traced([](Value x) -> Value { return relu(relu(neg(x))); }),
          relu_of_x(), one([](Value x) -> Value { return abs(x); }), options);
  std::string lines;
  for (const std::string& line : seen)
    lines += (lines.empty() ? "" : "\n") + line;
  expect_text("seen", lines);
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
