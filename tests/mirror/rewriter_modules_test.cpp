// subgraph_rewriter on modules: what becomes of parameters and submodules.
#include "tests/mirror/rewriter_case.h"

namespace fxjit::mirror {
namespace TEST_FILE {

using fx::symbolic_trace;

class RewriterModules : public RewriterCase {};

class Layer : public nn::Custom<Layer> {
 public:
  Layer() : Custom("M", {"x", "c"}) {
    w = register_parameter("w", Tensor::zeros({4, 4}));
    b = register_parameter("b", Tensor::zeros({4}));
  }
  Value forward(Value x, Value c) {
    Value weight = w.value();
    Value linear = function("torch._C._nn.linear", {x, weight},
                            {{"bias", b.value()}});
    return c * linear + x;
  }
  nn::Parameter w, b;
};

// Two modules, one after the other; `add` is added first when it is not 0.
class Chain : public nn::Custom<Chain> {
 public:
  Chain(std::string name, nn::ModuleRef first, int add)
      : Custom("Chain", {"x"}), add_(add) {
    first_ = register_module(std::move(name), std::move(first));
    submod_ = register_module("submod", nn::ReLU::create());
  }
  Value forward(Value x) { return submod_(first_(add_ ? x + add_ : x)); }

 private:
  nn::ModuleRef first_;
  nn::Ref<nn::ReLU> submod_;
  int add_;
};

class Constants : public nn::Custom<Constants> {
 public:
  // x + a - b; 0 leaves a term out, `name` is the attribute of the only one.
  Constants(double a, double b, double c) : Custom("M", {"x"}) {
    if (a != 0) set_attr("a", number(a));
    if (b != 0) set_attr("b", number(b));
    if (c != 0) set_attr("c", number(c));
  }
  Value forward(Value x) {
    if (own_attrs().contains("a")) x = x + attr("a");
    if (own_attrs().contains("b")) x = x - attr("b");
    if (own_attrs().contains("c")) x = x - attr("c");
    return x;
  }

 private:
  static Value number(double value) {
    return full(Dims{1}, value).as_tensor();
  }
};

MIRROR_CASE(RewriterModules, keywords_of_linear) {
  rewrite(symbolic_trace(filled(Layer::create())),
          {[](Value a, Value b, Value bias, Value c) -> Value {
             Value product =
                 function("torch._C._nn.linear", {a, b}, {{"bias", bias}});
             return Value::tuple({product, c * product});
           },
           {"a", "b", "bias", "c"}},
          {[](Value a, Value b, Value bias, Value c) -> Value {
             Value product =
                 function("torch._C._nn.linear", {a, b, bias});
             return Value::tuple({product, mul(product, c)});
           },
           {"a", "b", "bias", "c"}});
}

MIRROR_CASE(RewriterModules, submodules) {
  const auto gm = rewrite(
      symbolic_trace(Chain::create("sigmoid", nn::Sigmoid::create(), 1)),
      Chain::create("sigmoid", nn::Sigmoid::create(), 0),
      Chain::create("tanh", nn::Tanh::create(), 0));
  std::string children;
  for (const auto& [name, child] : gm->children())
    children += (children.empty() ? "" : " ") + name;
  expect_text("children", children);
  expect_outputs(gm, {fill({3, 4}, 1)});
}

MIRROR_CASE(RewriterModules, attributes) {
  const auto gm =
      rewrite(symbolic_trace(Constants::create(1.0, 2.0, 0.0)),
              Constants::create(9.0, 0.0, 0.0), Constants::create(0.0, 0.0, 3.0));
  expect_outputs(gm, {fill({3, 4}, 1)});
}

MIRROR_CASE(RewriterModules, missing_attribute) {
  auto graph = std::make_unique<fx::Graph>();
  graph->output(graph->call_module("absent", {graph->placeholder("x")}));
  auto replacement = std::make_shared<fx::GraphModule>(
      nn::AttributeMap{{"absent", nn::ModuleRef(nn::ReLU::create())}},
      std::move(graph));
  replacement->delete_submodule("absent");
  const auto gm =
      symbolic_trace([](Value x) -> Value { return relu(x); }, {"x"});
  const std::string before = gm->graph().str();
  expect_error([&] {
    fx::replace_pattern(*gm, [](Value x) -> Value { return relu(x); },
                        nn::Ref<fx::GraphModule>(replacement));
  });
  EXPECT_EQ(gm->graph().str(), before);
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
