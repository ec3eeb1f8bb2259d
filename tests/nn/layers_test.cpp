// Layers against torch.nn: printed form, state and numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "fxjit/fx/symbolic_trace.h"
#include "fxjit/nn.h"

namespace fxjit::nn {
namespace TEST_FILE {

struct StateEntry {
  std::string name;
  Dims sizes;
  std::vector<float> values;
};

struct LayerCase {
  const char* name;
  std::function<ModuleRef()> make;
  const char* printed;  // Line breaks as "\n" in two characters.
  std::vector<StateEntry> state;
  Dims input_sizes;
  std::vector<float> input;
  Dims output_sizes;
  std::vector<float> output;
};

std::vector<LayerCase> layer_cases() {
  return {
#include "tests/nn/reference/layers.inc"
  };
}

std::string with_line_breaks(std::string text) {
  for (size_t at; (at = text.find("\\n")) != text.npos;)
    text.replace(at, 2, "\n");
  return text;
}

class Layers : public ::testing::TestWithParam<LayerCase> {
 protected:
  static ModuleRef load(const LayerCase& layer) {
    ModuleRef module = layer.make();
    module->eval();
    StateDict state;
    for (const StateEntry& entry : layer.state)
      state.emplace_back(entry.name, Tensor::from(entry.values, entry.sizes));
    const LoadReport report = module->load_state_dict(state, false);
    EXPECT_TRUE(report.unexpected.empty());
    for (const std::string& name : report.missing)
      EXPECT_THAT(name, ::testing::EndsWith("num_batches_tracked"));
    return module;
  }
  static void check(const Value& result, const LayerCase& layer) {
    const Tensor& tensor = result.as_tensor();
    EXPECT_EQ(tensor.sizes(), layer.output_sizes);
    EXPECT_THAT(tensor.to_floats(),
                ::testing::Pointwise(testing::FloatNear(2e-5f), layer.output));
  }
};

TEST_P(Layers, PrintsAsTorch) {
  EXPECT_EQ(GetParam().make()->str(), with_line_breaks(GetParam().printed));
}

TEST_P(Layers, ComputesAsTorch) {
  const ModuleRef module = load(GetParam());
  const Tensor input = Tensor::from(GetParam().input, GetParam().input_sizes);
  check(module(input), GetParam());
}

// As one call_module, and traced through.
TEST_P(Layers, ComputesAsTorchWhenTraced) {
  class Holder : public Custom<Holder> {
   public:
    explicit Holder(ModuleRef m) : Custom("Holder", {"x"}) {
      layer = register_module("layer", std::move(m));
    }
    Value forward(Value x) { return layer(x); }
    ModuleRef layer;
  };
  class NoLeaves : public fx::Tracer {
   public:
    bool is_leaf_module(const Module&, std::string_view) const override {
      return false;
    }
  };
  const auto holder = Holder::create(load(GetParam()));
  const Tensor input = Tensor::from(GetParam().input, GetParam().input_sizes);
  const auto leaf = fx::symbolic_trace(holder);
  leaf->graph().lint();
  check(leaf(input), GetParam());
  NoLeaves tracer;
  auto graph = tracer.trace(*holder);
  EXPECT_TRUE(graph->find_nodes(fx::Opcode::call_module).empty());
  check(fx::GraphModule::create(*holder, std::move(graph))(input), GetParam());
}

// By name, in any order, and nothing beside them.
TEST_P(Layers, AreMadeAgainOfTheirArguments) {
  const ModuleRef module = GetParam().make();
  const ModuleType* const type = find_module_type(*module);
  ASSERT_NE(type, nullptr);
  if (!module->children().empty()) GTEST_SKIP() << "children are not arguments";
  const Kwargs arguments = type->arguments(*module);
  Kwargs given(arguments.rbegin(), arguments.rend());
  const ModuleRef again = make_module(type->name, given);
  EXPECT_EQ(again->repr(), module->repr());
  const Kwargs kept = type->arguments(*again);
  ASSERT_EQ(kept.size(), arguments.size());
  for (const auto& [name, value] : arguments) {
    const auto found =
        std::ranges::find(kept, name, &Kwargs::value_type::first);
    ASSERT_NE(found, kept.end()) << name;
    EXPECT_EQ(repr(found->second), repr(value)) << name;
  }
  given.emplace_back("surplus", 1);
  EXPECT_THROW(make_module(type->name, given), UserError);
}

INSTANTIATE_TEST_SUITE_P(Torch, Layers, ::testing::ValuesIn(layer_cases()),
                         [](const auto& info) {
                           return std::string(info.param.name);
                         });

TEST(Embedding, PicksRows) {
  const auto embedding = Embedding::create(4, 2, 1);
  EXPECT_EQ(embedding->str(), "Embedding(4, 2, padding_idx=1)");
  EXPECT_EQ(embedding->weight.tensor().at({1, 0}), 0);
  const std::vector<int64_t> indices = {3, 1, 0};
  const Value rows = embedding(Tensor::from(indices, {3}));
  EXPECT_EQ(rows.as_tensor().sizes(), (Dims{3, 2}));
  EXPECT_EQ(rows.as_tensor().at({0, 1}), embedding->weight.tensor().at({3, 1}));
  EXPECT_EQ(rows.as_tensor().at({1, 1}), 0);
}

TEST(Layers, WrongOptionsAreRefused) {
  EXPECT_THROW(Dropout::create(1.5), ValueError);
  EXPECT_THROW(GroupNorm::create(3, 4), ValueError);
  EXPECT_THROW(Conv2d::create(3, 4, 3, ConvOptions{.groups = 2}), ValueError);
  EXPECT_THROW(Conv2d::create(3, 4, Value::tuple({1, 2, 3})), ValueError);
  EXPECT_THROW(Conv2d::create(3, 4, "same"), ValueError);
  const auto norm = BatchNorm2d::create(3);
  norm->eval();
  EXPECT_THROW(norm(Tensor::zeros({2, 3})), ValueError);
}

TEST(Layers, ArgumentsTakeTheTypeOfTheirMember) {
  const ModuleRef norm =
      make_module("LayerNorm", {{"normalized_shape", Value::list({2, 3})},
                                {"eps", 1},
                                {"elementwise_affine", true},
                                {"bias", false}});
  EXPECT_EQ(norm->repr(),
            "LayerNorm((2, 3), eps=1.0, elementwise_affine=True, bias=False)");
  try {
    make_module("Softmax", {{"dim", 1.5}});
    FAIL() << "a float is taken for an int";
  } catch (const UserError& error) {
    EXPECT_EQ(error.message(),
              "[Softmax] argument dim: expected an int, got 1.5");
  }
}

TEST(Layers, SizesOfNoneAreNotTakenFromOtherMembers) {
  const ModuleRef pool = make_module("AvgPool1d", {{"kernel_size", None},
                                                   {"stride", None},
                                                   {"padding", 0},
                                                   {"ceil_mode", false},
                                                   {"count_include_pad", true}});
  EXPECT_EQ(pool->repr(),
            "AvgPool1d(kernel_size=None, stride=None, padding=(0,))");
}

// What is printed and written follows the members that forward reads.
TEST(Layers, PresenceIsThatOfTheMember) {
  const auto linear = Linear::create(2, 3);
  linear->bias = linear->register_parameter("bias", Parameter());
  EXPECT_EQ(linear->repr(),
            "Linear(in_features=2, out_features=3, bias=False)");
  EXPECT_EQ(repr(find_module_type(*linear)->arguments(*linear)[2].second),
            "False");
}

TEST(FunctionLayer, IsABaseForUsers) {
  struct Sharp : Custom<Sharp, FunctionLayer> {
    Sharp()
        : Custom("Sharp", "torch._C._nn.softplus",
                 {{"", 2.0}, {"threshold", 20.0}}) {}
  };
  const auto sharp = Sharp::create();
  EXPECT_EQ(sharp->repr(), "Sharp(2.0, threshold=20.0)");
  const auto softplus = Softplus::create(2, 20);
  const Tensor x = Tensor::from(std::vector<float>{-1, 0.5}, {2});
  EXPECT_EQ(sharp(x).as_tensor().to_floats(),
            softplus(x).as_tensor().to_floats());
}

TEST(Losses, RemovedWeightsAreNamed) {
  const auto loss = NLLLoss::create(Tensor::full({3}, 1.0));
  loss->remove_member("weight");
  EXPECT_THROW(loss->forward(Tensor::zeros({2, 3}),
                             Tensor::zeros({2}, DType::i64)),
               AttributeError);
  // A parameter in the buffer's place is used.
  loss->register_parameter("weight", Tensor::full({3}, 2.0));
  EXPECT_NO_THROW(loss->forward(Tensor::zeros({2, 3}),
                                Tensor::zeros({2}, DType::i64)));
}

TEST(Layers, FirstValuesAreRepeatable) {
  manual_seed(5);
  const auto a = Linear::create(3, 2);
  manual_seed(5);
  const auto b = Linear::create(3, 2);
  EXPECT_EQ(a->weight.tensor().to_floats(), b->weight.tensor().to_floats());
  for (float v : a->weight.tensor().to_floats())
    EXPECT_LE(std::abs(v), 0.5774f);
}

}  // namespace TEST_FILE
}  // namespace fxjit::nn
