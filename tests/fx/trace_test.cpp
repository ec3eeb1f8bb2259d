// Tracing. Expected texts are torch 2.13's for the same code in Python.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/fx/symbolic_trace.h"
#include "fxjit/fx/wrap.h"
#include "fxjit/nn/custom.h"

namespace fxjit::fx {
namespace TEST_FILE {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

// A leaf, as the library's layers are.
class Scale : public nn::Custom<Scale> {
 public:
  Scale() : Custom("Scale", {"x"}) {
    factor = register_parameter("factor", Tensor::full({1}, 3));
  }
  bool is_leaf() const override { return true; }
  Value forward(Value x) { return x * factor; }
  nn::Parameter factor;
};

class Block : public nn::Custom<Block> {
 public:
  Block() : Custom("Block", {"x"}) {
    scale = register_module("scale", Scale::create());
    bias = register_parameter("bias", Tensor::full({2, 3}, 0.5));
  }
  Value forward(Value x) { return relu(scale(x + bias)); }
  nn::Ref<Scale> scale;
  nn::Parameter bias;
};

class Model : public nn::Custom<Model> {
 public:
  Model() : Custom("Model", {"x", {"y", 2}, "*args", {"z", None}, "**kwargs"}) {
    first = register_module("first", Block::create());
    second = register_module("second", Block::create());
  }
  Value forward(Value x, Value y, Value args, Value z, Value kwargs) {
    // One call per statement: C++ does not order the operands of "+".
    Value a = first(x) * y;
    a = a + second(x);
    a = a - first(x);
    return Value::dict({{"a", a}, {"rest", Value::tuple({args, z, kwargs})}});
  }
  nn::Ref<Block> first, second;
};

template <typename F>
nn::Ref<GraphModule> trace1(F function) {
  return symbolic_trace(function, {"x"}, "f");
}

TEST(Trace, InlinesUserModulesAndKeepsLeaves) {
  const auto gm = symbolic_trace(Block::create());
  EXPECT_EQ(
      gm->graph().str(),
      "graph():\n"
      "    %x : [num_users=1] = placeholder[target=x]\n"
      "    %bias : [num_users=1] = get_attr[target=bias]\n"
      "    %add : [num_users=1] = call_function[target=operator.add](args "
      "= (%x, %bias), kwargs = {})\n"
      "    %scale : [num_users=1] = call_module[target=scale](args = "
      "(%add,), kwargs = {})\n"
      "    %relu : [num_users=1] = call_function[target=torch.relu](args "
      "= (%scale,), kwargs = {})\n"
      "    return relu");
  gm->graph().lint();
}

TEST(Trace, ArgumentsDefaultsAndVariadics) {
  const auto model = Model::create();
  const auto gm = symbolic_trace(model);
  EXPECT_EQ(gm->code(),
            "\n\n\n"
            "def forward(self, x, y = 2, z = None, *args, **kwargs):\n"
            "    _args = args\n"
            "    _kwargs = kwargs\n"
            "    first_bias = self.first.bias\n"
            "    add = x + first_bias\n"
            "    first_scale = self.first.scale(add);  add = None\n"
            "    relu = torch.relu(first_scale);  first_scale = None\n"
            "    mul = relu * y;  relu = y = None\n"
            "    second_bias = self.second.bias\n"
            "    add_1 = x + second_bias;  second_bias = None\n"
            "    second_scale = self.second.scale(add_1);  add_1 = None\n"
            "    relu_1 = torch.relu(second_scale);  second_scale = None\n"
            "    add_2 = mul + relu_1;  mul = relu_1 = None\n"
            "    add_3 = x + first_bias;  x = first_bias = None\n"
            "    first_scale_1 = self.first.scale(add_3);  add_3 = None\n"
            "    relu_2 = torch.relu(first_scale_1);  first_scale_1 = None\n"
            "    sub = add_2 - relu_2;  add_2 = relu_2 = None\n"
            "    return {'a': sub, 'rest': (_args, z, _kwargs)}\n    ");
  const Tensor x = Tensor::full({2, 3}, 1);
  const Value eager = model(x, 4, 7, 8, kw("z", 9), kw("w", 10));
  const Value traced = gm->call({x, 4, 9, 7, 8}, {{"w", 10}});
  EXPECT_EQ(eager.find("a")->as_tensor().at({0, 0}), 18);
  EXPECT_EQ(traced.find("a")->as_tensor().at({0, 0}), 18);
  EXPECT_EQ(repr(*eager.find("rest")), "((7, 8), 9, {'w': 10})");
  EXPECT_TRUE(same(*eager.find("rest"), *traced.find("rest")));
}

TEST(Trace, ModuleStackAndScopes) {
  const auto gm = symbolic_trace(Model::create());
  const Node* const scale = gm->graph().find_node("first_scale_1");
  ASSERT_NE(scale->module_stack(), nullptr);
  EXPECT_THAT(
      *scale->module_stack(),
      ElementsAre(ModuleFrame{"first@1", "first", "Block"},
                  ModuleFrame{"first.scale@1", "first.scale", "Scale"}));
  EXPECT_EQ(scale->module_path(), "first.scale");
  EXPECT_EQ(gm->graph().find_node("sub")->module_path(), "");
  Tracer tracer;
  EXPECT_EQ(tracer.scope_of(*scale).module_type, "Scale");
}

TEST(Trace, NodesKnowTheUsersLine) {
  int line = 0;
  const auto gm = trace1([&](Value x) -> Value {
    line = __LINE__ + 1;
    return x + 1;
  });
  const Node* const add = gm->graph().find_node("add");
  EXPECT_EQ(add->source().line, line);
  EXPECT_THAT(std::string(add->source().file), EndsWith("trace_test.cpp"));
  EXPECT_EQ(add->stack_trace(), "");
}

TEST(Trace, RecordsStackTracesOnRequest) {
  Tracer tracer;
  tracer.record_stack_traces = true;
  const auto graph = tracer.trace(TracedFunction{
      "f", {"x"}, [](std::vector<Value> a) { return a[0] + 1; }});
  EXPECT_THAT(graph->find_node("add")->stack_trace(),
              HasSubstr("trace_test.cpp\", line "));
}

TEST(Trace, ReflectedOperatorsAndConstants) {
  const auto gm = trace1([](Value x) -> Value {
    return Value::tuple({1 + x, x - 1, 2 / x, -x, x == 3, x % 2});
  });
  EXPECT_EQ(gm->code(),
            "\n\n\n"
            "def forward(self, x):\n"
            "    add = 1 + x\n"
            "    sub = x - 1\n"
            "    truediv = 2 / x\n"
            "    neg = -x\n"
            "    eq = x == 3\n"
            "    mod = x % 2;  x = None\n"
            "    return (add, sub, truediv, neg, eq, mod)\n    ");
}

TEST(Trace, InPlaceOperatorsRebind) {
  const auto gm = trace1([](Value x) -> Value {
    Value y = x;
    y -= 1;
    return y * x;
  });
  EXPECT_EQ(gm->code(),
            "\n\n\n"
            "def forward(self, x):\n"
            "    sub = x - 1\n"
            "    mul = sub * x;  sub = x = None\n"
            "    return mul\n    ");
}

TEST(Trace, AttributesAreLazy) {
  const auto gm = trace1([](Value x) -> Value {
    const Value unused = getattr(x, "shape");
    const Value shape = getattr(x, "shape");
    return Value::tuple({shape, method(x, "size", {0})});
  });
  EXPECT_EQ(gm->code(),
            "\n\n\n"
            "def forward(self, x):\n"
            "    size = x.size(0)\n"
            "    getattr_1 = x.shape;  x = None\n"
            "    return (getattr_1, size)\n    ");
}

TEST(Trace, UnpackRecordsGetitem) {
  const auto gm = trace1([](Value x) -> Value {
    const auto parts = unpack(x, 2);
    return parts[0] + parts[1];
  });
  EXPECT_EQ(gm->code(),
            "\n\n\n"
            "def forward(self, x):\n"
            "    getitem = x[0]\n"
            "    getitem_1 = x[1];  x = None\n"
            "    add = getitem + getitem_1;  getitem = getitem_1 = None\n"
            "    return add\n    ");
}

TEST(Trace, UnknownFunctionName) {
  Tracer tracer;
  tracer.traced_func_name = "other";
  try {
    tracer.trace(*Block::create());
    FAIL() << "expected an error";
  } catch (const AssertionError& error) {
    EXPECT_EQ(error.message(), "traced_func_name=other doesn't exist in Block");
  }
}

TEST(Trace, OtherFunctionByName) {
  const auto block = Block::create();
  block->register_method(
      "other", {{"x"}, [](const std::vector<Value>& a) { return a[0] + 7; }});
  Tracer tracer;
  tracer.traced_func_name = "other";
  const auto graph = tracer.trace(*block);
  EXPECT_THAT(graph->str(), HasSubstr("(%x, 7)"));
}

TEST(Trace, TensorConstantsAreStoredOnce) {
  const Tensor shared = Tensor::full({2}, 1);
  const Tensor equal = Tensor::full({2}, 1);
  const auto gm =
      trace1([&](Value x) -> Value { return x + shared + shared + equal; });
  std::vector<std::string> targets;
  for (const Node* node : gm->graph().find_nodes(Opcode::get_attr))
    targets.emplace_back(node->target_name());
  EXPECT_THAT(targets, ElementsAre("_tensor_constant0", "_tensor_constant0",
                                   "_tensor_constant1"));
  EXPECT_EQ(gm(Tensor::zeros({2})).as_tensor().at({0}), 3);
}

TEST(Trace, AttributesAndBuffersAreFoundByIdentity) {
  class WithState : public nn::Custom<WithState> {
   public:
    WithState() : Custom("WithState", {"x"}) {
      set_attr("plain", Tensor::full({2}, 1));
      mask = register_buffer("mask", Tensor::full({2}, 2));
      block = register_module("block", Block::create());
      block->set_attr("inner", Tensor::full({2}, 3));
    }
    Value forward(Value x) {
      return x * mask + attr("plain") + block->attr("inner");
    }
    nn::Buffer mask;
    nn::Ref<Block> block;
  };
  const auto module = WithState::create();
  const auto gm = symbolic_trace(module);
  EXPECT_EQ(gm->code(),
            "\n\n\n"
            "def forward(self, x):\n"
            "    mask = self.mask\n"
            "    mul = x * mask;  x = mask = None\n"
            "    plain = self.plain\n"
            "    add = mul + plain;  mul = plain = None\n"
            "    block_inner = self.block.inner\n"
            "    add_1 = add + block_inner;  add = block_inner = None\n"
            "    return add_1\n    ");
  EXPECT_EQ(gm(Tensor::full({2}, 5)).as_tensor().at({1}), 14);
}

TEST(Trace, ParametersAreReadOncePerTrace) {
  const auto gm = symbolic_trace([] {
    class Twice : public nn::Custom<Twice> {
     public:
      Twice() : Custom("Twice", {"x"}) {
        w = register_parameter("w", Tensor::full({2}, 2));
      }
      Value forward(Value x) { return x * w + w + param("w"); }
      nn::Parameter w;
    };
    return Twice::create();
  }());
  EXPECT_EQ(gm->graph().find_nodes(Opcode::get_attr).size(), 1u);
}

TEST(Trace, ParameterShapesMayBeConstant) {
  class ByShape : public nn::Custom<ByShape> {
   public:
    ByShape() : Custom("ByShape", {"x"}) {
      w = register_parameter("w", Tensor::zeros({4, 2}));
    }
    Value forward(Value x) {
      const Value weight = w;
      return getattr(weight, "shape").at(0).as_int() == 4 &&
                     method(weight, "size", {1}).as_int() == 2
                 ? x + weight
                 : x;
    }
    nn::Parameter w;
  };
  const auto module = ByShape::create();
  Tracer tracer({.param_shapes_constant = true});
  EXPECT_THAT(tracer.trace(*module)->str(), HasSubstr("(%x, %w)"));
}

TEST(Trace, ConstantShapesAreKnownByTheNamesOfTorchsProxies) {
  class Asking : public nn::Custom<Asking> {
   public:
    Asking() : Custom("Asking", {"x"}) {
      w = register_parameter("w", Tensor::zeros({4, 2}));
    }
    Value forward(Value x) {
      const Value weight = w;
      EXPECT_EQ(method(weight, "size", {-1}).as_int(), 2);
      EXPECT_EQ(method(weight, "size", {}, {{"dim", 0}}).as_int(), 4);
      EXPECT_EQ(method(weight, "dim").as_int(), 2);
      EXPECT_EQ(method(weight, "nelement").as_int(), 8);
      EXPECT_TRUE(method(weight, "ndimension").is_proxy());
      EXPECT_TRUE(method(weight, "stride").is_proxy());
      return x;
    }
    nn::Parameter w;
  };
  const auto module = Asking::create();
  Tracer tracer({.param_shapes_constant = true});
  EXPECT_THAT(tracer.trace(*module)->str(), HasSubstr("ndimension"));
}

TEST(Trace, ConcreteArguments) {
  const auto gm = symbolic_trace(
      [](Value x, Value flag, Value none) -> Value {
        return flag && none.is_none() ? x + 1 : x;
      },
      {"x", {"flag", false}, {"none", None}}, "f", {{"flag", true}, {"none", None}});
  EXPECT_EQ(
      gm->code(),
      "\n\n\n"
      "def forward(self, x, flag_1 = False, none_1 = None):\n"
      "    eq = flag_1 == True;  flag_1 = None\n"
      "    _assert = torch._assert(eq, 'flag has been specialized to have "
      "value True but got another value');  eq = _assert = None\n"
      "    _assert_is_none = torch.fx._symbolic_trace._assert_is_none("
      "none_1, 'none has been specialized to have value None but got "
      "another value');  none_1 = _assert_is_none = None\n"
      "    add = x + 1;  x = None\n"
      "    return add\n    ");
  const Tensor x = Tensor::zeros({2});
  EXPECT_EQ(gm->call({x, true, None}).as_tensor().at({0}), 1);
  EXPECT_THROW(gm->call({x, false, None}), AssertionError);
  EXPECT_THROW(gm->call({x, true, 1}), AssertionError);
}

TEST(Trace, EveryNodeGoesThroughCreateNode) {
  class Tagging : public Tracer {
   public:
    NodePtr create_node(Opcode kind, const Target& target, ValueList args,
                        Kwargs kwargs, std::string_view name,
                        const Value& type) override {
      const NodePtr node = Tracer::create_node(kind, target, std::move(args),
                                               std::move(kwargs), name, type);
      node->meta().set("tag", "foo");
      return node;
    }
  };
  Tagging tracer;
  const auto graph = tracer.trace(*Model::create());
  for (const Node* node : graph->nodes())
    EXPECT_TRUE(node->meta().contains("tag")) << node->name();
}

TEST(Trace, LeafPolicyMayBeChanged) {
  class NoLeaves : public Tracer {
   public:
    bool is_leaf_module(const nn::Module&, std::string_view) const override {
      return false;
    }
  };
  NoLeaves tracer;
  const auto graph = tracer.trace(*Model::create());
  EXPECT_TRUE(graph->find_nodes(Opcode::call_module).empty());
  EXPECT_THAT(graph->str(), HasSubstr("get_attr[target=first.scale.factor]"));
}

}  // namespace TEST_FILE
}  // namespace fxjit::fx
