// net_min_base: which nodes are blamed, and what the reports say.
#include <algorithm>
#include <cmath>

#include "fxjit/fx/passes/net_minimizer.h"
#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {
namespace TEST_FILE {

using fx::symbolic_trace;
using fx::passes::MinimizerOptions;
using fx::passes::TraverseMethod;
namespace passes = fx::passes;

// Way b computes torch.sigmoid wrongly and cannot run torch.exp.
class Tool : public passes::NetMinimizer {
 public:
  using NetMinimizer::NetMinimizer;
  Value run_a(fx::GraphModule& part, const ValueList& inputs) override {
    return part.forward(inputs);
  }
  Value run_b(fx::GraphModule& part, const ValueList& inputs) override {
    int64_t wrong = 0;
    for (const fx::Node* node : part.graph().nodes()) {
      if (node->target_name() == "torch.exp") throw RuntimeError("no exp");
      wrong += node->target_name() == "torch.sigmoid";
    }
    const Value result = part.forward(inputs);
    if (!result.is_tuple()) return wrong ? result + wrong : result;
    ValueList items;
    for (const Value& item : result.as_sequence()) items.push_back(item + wrong);
    return Value::tuple(std::move(items));
  }
};

std::pair<double, bool> distance(const Value& a, const Value& b,
                                const std::vector<std::string>&) {
  const ValueList x = a.is_tuple() ? a.as_sequence() : ValueList{a};
  const ValueList y = b.is_tuple() ? b.as_sequence() : ValueList{b};
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const Value difference = x[i] - y[i];
    if (difference.is_number()) {
      worst = std::max(worst, std::abs(difference.as_double()));
      continue;
    }
    for (float number : difference.as_tensor().to_floats())
      worst = std::max(worst, double{std::abs(number)});
  }
  return {worst, worst < 0.5};
}

nn::Ref<fx::GraphModule> chain() {
  return symbolic_trace(
      [](Value x) -> Value {
        Value a = neg(x);
        Value b = relu(a);
        Value c = sigmoid(b);
        Value d = neg(c);
        Value e = relu(d);
        return neg(e) + 1;
      },
      {"x"});
}

nn::Ref<fx::GraphModule> failing() {
  return symbolic_trace(
      [](Value x, Value y) -> Value {
        Value a = neg(x) + y;
        Value b = exp(a);
        Value c = sigmoid(b) * a;
        return Value::tuple({neg(c), a});
      },
      {"x", "y"});
}

class WithAttributes : public nn::Custom<WithAttributes> {
 public:
  WithAttributes() : Custom("M", {"x"}) {
    w = register_parameter("w", Tensor::zeros({4}));
    lin = register_module("lin", nn::Linear::create(4, 4));
  }
  Value forward(Value x) {
    Value first = lin(x);
    Value y = first * w.value();
    Value left = sigmoid(y);
    return Value::tuple({left + w.value(), y});
  }
  nn::Parameter w;
  nn::Ref<nn::Linear> lin;
};

Tool tool(const nn::Ref<fx::GraphModule>& gm, const ValueList& inputs,
          const MinimizerOptions& options = {},
          passes::MinimizerExporter exporter = {},
          passes::MinimizerExclusion exclusion = {}) {
  return Tool(gm, inputs, distance, options, std::move(exporter),
              std::move(exclusion));
}
MinimizerOptions by(TraverseMethod method) {
  MinimizerOptions options;
  options.traverse_method = method;
  return options;
}
Tool of_chain(const MinimizerOptions& options = {}) {
  return tool(chain(), {fill({3, 4}, 1)}, options);
}

constexpr TraverseMethod kMethods[] = {
    TraverseMethod::sequential, TraverseMethod::binary,
    TraverseMethod::accumulate, TraverseMethod::block};

class Minimizer : public Case {
 protected:
  void expect_reports(const Tool& minimizer) {
    std::string lines;
    for (const auto& report : minimizer.reports())
      for (const std::string& line : report)
        lines += (lines.empty() ? "" : "\n") + line;
    expect_text("reports", lines);
  }
  template <typename... Args>
  void found(Tool minimizer, const Args&... args) {
    std::string names;
    for (const fx::Node* node : minimizer.minimize(args...))
      names += (names.empty() ? "" : " ") + std::string(node->name());
    expect_text("culprits", names);
    expect_reports(minimizer);
  }
};

MIRROR_CASE(Minimizer, each_method) {
  for (const TraverseMethod method : kMethods) found(of_chain(by(method)));
}

MIRROR_CASE(Minimizer, each_method_with_errors) {
  for (const TraverseMethod method : kMethods)
    found(tool(failing(), {fill({3, 4}, 1), fill({3, 4}, 2)}, by(method)));
}

MIRROR_CASE(Minimizer, nothing_wrong) {
  const auto same = symbolic_trace(
      [](Value x) -> Value { return neg(relu(x)); }, {"x"});
  for (const TraverseMethod method : kMethods)
    found(tool(same, {fill({3, 4}, 1)}, by(method)));
}

MIRROR_CASE(Minimizer, all_of_them) {
  found(tool(failing(), {fill({3, 4}, 1), fill({3, 4}, 2)},
             {.find_all = true}));
}

MIRROR_CASE(Minimizer, own_errors) {
  found(of_chain({.accumulate_error = true, .find_all = true}));
}

MIRROR_CASE(Minimizer, ranges) {
  found(of_chain(), "relu", "neg_1");
  found(of_chain(), "relu_1");
}

MIRROR_CASE(Minimizer, block_ends) {
  for (const bool last : {true, false})
    found(of_chain(by(TraverseMethod::block)), "", "", std::nullopt, last);
}

MIRROR_CASE(Minimizer, skipped) {
  using Names = std::vector<std::string>;
  found(of_chain(by(TraverseMethod::skip)), "", "sigmoid", Names{"relu"});
  found(of_chain(by(TraverseMethod::skip)), "", "", Names{"sigmoid"});
  expect_error([] { of_chain(by(TraverseMethod::skip)).minimize(); });
}

MIRROR_CASE(Minimizer, parts_with_attributes) {
  std::string exported;
  found(tool(symbolic_trace(filled(WithAttributes::create())),
             {fill({3, 4}, 1)}, by(TraverseMethod::binary),
             [&](const ValueList& inputs, fx::GraphModule& part,
                 const std::string& name) {
               exported += (exported.empty() ? "" : "\n") + name + " " +
                           std::to_string(inputs.size()) + "\n" +
                           part.graph().str();
             }));
  expect_text("exported", exported);
}

MIRROR_CASE(Minimizer, numbers_stay_inside) {
  const auto gm = symbolic_trace(
      [](Value x, Value y) -> Value {
        Value n = method(relu(x), "size", {0});
        return sigmoid(method(y, "reshape", {n, -1})) + 1;
      },
      {"x", "y"});
  found(tool(gm, {fill({3, 4}, 1), fill({2, 6}, 2)}, {.find_all = true}));
}

MIRROR_CASE(Minimizer, several_outputs) {
  const auto gm = symbolic_trace(
      [](Value x, Value y) -> Value {
        Value a = neg(x) + y;
        Value b = relu(a);
        return Value::tuple({sigmoid(b) * a, b});
      },
      {"x", "y"});
  const ValueList inputs = {fill({3, 4}, 1), fill({3, 4}, 2)};
  MinimizerOptions options = by(TraverseMethod::accumulate);
  options.all_outputs = true;
  found(tool(gm, inputs, options));
  for (const bool intermediate : {false, true}) {
    Tool minimizer = tool(gm, inputs, {.return_intermediate = intermediate});
    minimizer.run_nodes("add", "sigmoid");
    expect_reports(minimizer);
  }
}

MIRROR_CASE(Minimizer, excluded) {
  found(tool(chain(), {fill({3, 4}, 1)}, {.find_all = true}, {},
             [](std::vector<fx::NodePtr>& nodes, int64_t, int64_t) {
               std::erase_if(nodes, [](const fx::Node* node) {
                 return node->target_name() == "torch.sigmoid";
               });
             }));
}

MIRROR_CASE(Minimizer, settings_and_refusals) {
  MinimizerOptions options = by(TraverseMethod::block);
  options.find_all = true;
  expect_text("settings", options.str());
  const auto gm = chain();
  passes::NetMinimizer bare(gm, {fill({3, 4}, 1)}, distance);
  expect_error([&] { bare.run_a(*gm, {}); });
  expect_error([&] { tool(gm, {fill({3, 4}, 1), 2}); });
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
