#include "fxjit/fx/graph_module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/fx/symbolic_trace.h"
#include "fxjit/nn/custom.h"

namespace fxjit::fx {
namespace TEST_FILE {

using ::testing::HasSubstr;

double first(const Value& value) { return value.as_tensor().to_floats()[0]; }

Value plus_one(Value x) { return x + 1; }

nn::Ref<GraphModule> traced() { return symbolic_trace(plus_one, {"x"}, "f"); }

class Constant : public NativeForward {
 public:
  explicit Constant(bool serves) : serves_(serves) {}
  bool run(std::span<const Value> inputs, Value* result) override {
    ++calls;
    if (serves_)
      *result = Tensor::full({static_cast<int64_t>(inputs.size())}, 9);
    return serves_;
  }
  int calls = 0;

 private:
  bool serves_;
};

TEST(GraphModule, NativeForwardReplacesTheInterpreter) {
  const auto gm = traced();
  const Value x = Tensor::zeros({1});
  const auto native = std::make_shared<Constant>(true);
  gm->set_native_forward(native);
  EXPECT_EQ(first(gm(x)), 9);
  EXPECT_EQ(first(gm->interpret({&x, 1})), 1);
  gm->set_native_forward(nullptr);
  EXPECT_EQ(first(gm(x)), 1);
}

TEST(GraphModule, NativeForwardMayDecline) {
  const auto gm = traced();
  const auto native = std::make_shared<Constant>(false);
  gm->set_native_forward(native);
  EXPECT_EQ(first(gm(Tensor::zeros({1}))), 1);
  EXPECT_EQ(native->calls, 1);
}

TEST(GraphModule, RecompileDropsNativeCode) {
  const auto gm = traced();
  auto native = std::make_shared<Constant>(true);
  const std::weak_ptr<Constant> watch = native;
  gm->set_native_forward(std::move(native));
  gm->recompile();
  EXPECT_EQ(gm->native_forward(), nullptr);
  EXPECT_TRUE(watch.expired());
  EXPECT_EQ(first(gm(Tensor::zeros({1}))), 1);
}

TEST(GraphModule, TracingIgnoresNativeCode) {
  const auto gm = traced();
  gm->set_native_forward(std::make_shared<Constant>(true));
  EXPECT_EQ(symbolic_trace(gm)->graph().str(), gm->graph().str());
}

TEST(GraphModule, EditsTakeEffectWithRecompile) {
  const auto gm = traced();
  const std::string before = gm->code();
  const NodePtr add = gm->graph().find_node("add");
  add->set_arg(1, 10);
  {
    const auto scope = gm->graph().inserting_after(add);
    const NodePtr neg = gm->graph().call_function("torch.neg", {add});
    add->replace_all_uses_with(neg, [&](NodePtr user) { return user != neg; });
  }
  EXPECT_EQ(gm->code(), before);
  EXPECT_EQ(first(gm(Tensor::zeros({1}))), 1);
  gm->recompile();
  EXPECT_THAT(gm->code(), HasSubstr("x + 10"));
  EXPECT_EQ(first(gm(Tensor::zeros({1}))), -10);
}

TEST(GraphModule, RecompileLints) {
  const auto gm = traced();
  const NodePtr add = gm->graph().find_node("add");
  add->set_arg(1, add);
  EXPECT_THROW(gm->recompile(), RuntimeError);
  EXPECT_EQ(first(gm(Tensor::zeros({1}))), 1);
}

TEST(GraphModule, SetGraphRecompiles) {
  const auto gm = traced();
  auto graph = std::make_unique<Graph>();
  graph->output(graph->call_function("torch.neg", {graph->placeholder("x")}));
  gm->set_graph(std::move(graph));
  EXPECT_EQ(first(gm(Tensor::full({1}, 2))), -2);
  EXPECT_EQ(gm->graph().owning_module(), gm.get());
}

TEST(GraphModule, BindsArgumentsAsPython) {
  const auto gm = symbolic_trace(
      [](Value x, Value y) -> Value { return x - y; }, {"x", {"y", 5}}, "f");
  const Tensor x = Tensor::full({1}, 7);
  EXPECT_EQ(first(gm(x)), 2);
  EXPECT_EQ(first(gm(kw("y", 1), kw("x", x))), 6);
  EXPECT_THROW(gm(), TypeError);
  EXPECT_THROW(gm(x, 1, 2), TypeError);
  EXPECT_THROW(gm(x, kw("z", 2)), TypeError);
}

TEST(GraphModule, FromDict) {
  auto graph = std::make_unique<Graph>();
  const NodePtr x = graph->placeholder("x");
  const NodePtr baz = graph->get_attr("foo.bar.baz");
  const NodePtr module = graph->call_module("foo.m", {x});
  graph->output(graph->call_function("_operator.add", {baz, module}));
  const auto copy = graph->copy();
  const auto inner = traced();
  const GraphModule gm(
      nn::AttributeMap{{"foo.bar.baz", nn::Parameter(Tensor::full({1}, 4))},
                       {"foo.m", nn::ModuleRef(inner)}},
      std::move(graph));
  EXPECT_THAT(gm.code(), HasSubstr("self.foo.bar.baz"));
  EXPECT_EQ(const_cast<GraphModule&>(gm)(Tensor::zeros({1})).as_tensor().item(),
            5);
  try {
    GraphModule(nn::AttributeMap{}, copy->copy());
    FAIL() << "expected an error";
  } catch (const RuntimeError& error) {
    EXPECT_EQ(error.message(),
              "Node foo_bar_baz referenced target foo.bar.baz but that target "
              "was not provided in ``root``!");
  }
}

TEST(GraphModule, SharesWhatTheGraphRefersTo) {
  class M : public nn::Custom<M> {
   public:
    M() : Custom("M", {"x"}) {
      used = register_parameter("used", Tensor::full({1}, 1));
      register_parameter("unused", Tensor::full({1}, 1));
      register_module("child", traced());
    }
    Value forward(Value x) { return x * used; }
    nn::Parameter used;
  };
  const auto m = M::create();
  m->eval();
  const auto gm = symbolic_trace(m);
  EXPECT_FALSE(gm->training());
  EXPECT_EQ(gm->type_name(), "M");
  EXPECT_EQ(gm->named_parameters().size(), 1u);
  EXPECT_TRUE(gm->children().empty());
  m->used.set_tensor(Tensor::full({1}, 5));
  EXPECT_EQ(first(gm(Tensor::full({1}, 2))), 10);
  try {
    auto graph = std::make_unique<Graph>();
    graph->output(graph->get_attr("missing"));
    GraphModule(*m, std::move(graph));
    FAIL() << "expected an error";
  } catch (const AttributeError& error) {
    EXPECT_EQ(error.message(), "'M' object has no attribute 'missing'");
  }
}

TEST(GraphModule, CopiesAreIndependentGraphsOverSharedState) {
  const auto gm = traced();
  const auto copy = gm->copy();
  copy->graph().find_node("add")->set_arg(1, 100);
  copy->recompile();
  EXPECT_EQ(first(gm(Tensor::zeros({1}))), 1);
  EXPECT_EQ(first(copy(Tensor::zeros({1}))), 100);
}

TEST(GraphModule, CopiesReachNestedGraphModules) {
  auto graph = std::make_unique<Graph>();
  const NodePtr x = graph->placeholder("x");
  graph->output(graph->call_module("a.inner", {x}));
  const auto inner = traced();
  const auto gm = std::make_shared<GraphModule>(
      nn::AttributeMap{{"a.inner", nn::ModuleRef(inner)}}, std::move(graph));
  const auto copy = gm->copy();
  auto& copied = dynamic_cast<GraphModule&>(copy->get_submodule("a.inner"));
  EXPECT_NE(&copied, inner.get());
  copied.graph().find_node("add")->set_arg(1, 50);
  copied.recompile();
  EXPECT_EQ(first((*gm)(Tensor::zeros({1}))), 1);
  EXPECT_EQ(first(copy(Tensor::zeros({1}))), 50);
}

TEST(GraphModule, Submodules) {
  const auto gm = traced();
  EXPECT_TRUE(gm->add_submodule("net_b.net_c", traced()));
  EXPECT_TRUE(gm->add_submodule("net_b.net_d", traced()));
  EXPECT_TRUE(gm->add_submodule("other", traced()));
  EXPECT_NE(gm->find_submodule("net_b.net_c"), nullptr);
  EXPECT_TRUE(gm->delete_submodule("net_b.net_d"));
  EXPECT_FALSE(gm->delete_submodule("net_b.net_d"));
  EXPECT_FALSE(gm->delete_submodule("no.such"));
  EXPECT_THROW(gm->add_submodule("new..part", traced()), KeyError);
  EXPECT_EQ(gm->find_submodule("new"), nullptr);
  {
    const auto scope = gm->graph().inserting_before(gm->graph().output_node());
    gm->graph().call_module("net_b.net_c", {gm->graph().find_node("add")});
  }
  gm->delete_all_unused_submodules();
  EXPECT_NE(gm->find_submodule("net_b.net_c"), nullptr);
  EXPECT_EQ(gm->find_submodule("other"), nullptr);
  try {
    gm->get_submodule("net_b.nope");
    FAIL() << "expected an error";
  } catch (const AttributeError& error) {
    EXPECT_EQ(error.message(), "Module has no attribute `nope`");
  }
}

TEST(GraphModule, Prints) {
  const auto gm = traced();
  gm->add_submodule("sub", traced());
  EXPECT_EQ(gm->str(),
            "f(\n"
            "  (sub): f()\n"
            ")\n\n\n\n"
            "def forward(self, x):\n"
            "    add = x + 1;  x = None\n"
            "    return add\n"
            "    \n"
            "# To see more debug info, please use "
            "`graph_module.print_readable()`");
  EXPECT_EQ(gm->print_readable(),
            "class f(torch.nn.Module):\n"
            "    def forward(self, x):\n"
            "        # No stacktrace found for following nodes\n"
            "        add = x + 1;  x = None\n"
            "        return add\n"
            "\n"
            "    class sub(torch.nn.Module):\n"
            "        def forward(self, x):\n"
            "            # No stacktrace found for following nodes\n"
            "            add = x + 1;  x = None\n"
            "            return add\n");
}

}  // namespace TEST_FILE
}  // namespace fxjit::fx
