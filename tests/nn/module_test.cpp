#include "fxjit/nn/module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "fxjit/functions.h"
#include "fxjit/nn.h"

namespace fxjit::nn {
namespace TEST_FILE {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Mlp : public Custom<Mlp> {
 public:
  explicit Mlp(int64_t width = 4) : Custom("Mlp", {"x", {"scale", 2.0}}) {
    up = register_module("up", Linear::create(width, 8));
    down = register_module("down", Linear::create(8, width));
    shift = register_parameter("shift", Tensor::zeros({1}));
    mask = register_buffer("mask", Tensor::full({width}, 1));
    scratch = register_buffer("scratch", Tensor::zeros({1}), false);
  }
  Value forward(Value x, Value scale) {
    return down(relu(up(x))) * scale * mask + shift;
  }
  Ref<Linear> up, down;
  Parameter shift;
  Buffer mask, scratch;
};

template <typename T>
std::vector<std::string> names(
    const std::vector<std::pair<std::string, T>>& entries) {
  std::vector<std::string> result;
  for (const auto& [name, entry] : entries) result.push_back(name);
  return result;
}

template <typename E, typename Fn>
std::string message_of(Fn fn) {
  try {
    fn();
  } catch (const E& error) {
    return error.message();
  }
  return "no error";
}

TEST(Module, NamesFollowRegistration) {
  const auto mlp = Mlp::create();
  EXPECT_THAT(
      names(mlp->named_parameters()),
      ElementsAre("shift", "up.weight", "up.bias", "down.weight", "down.bias"));
  EXPECT_THAT(names(mlp->named_buffers()), ElementsAre("mask", "scratch"));
  EXPECT_THAT(names(mlp->named_modules()), ElementsAre("", "up", "down"));
  EXPECT_THAT(names(mlp->state_dict()),
              ElementsAre("shift", "mask", "up.weight", "up.bias",
                          "down.weight", "down.bias"));
  EXPECT_EQ(&mlp->get_submodule("up"), mlp->up.get());
  EXPECT_EQ(mlp->get_parameter("up.weight"), mlp->up->weight);
  EXPECT_EQ(mlp->get_buffer("mask"), mlp->mask);
}

TEST(Module, CallsBindArguments) {
  const auto mlp = Mlp::create();
  const Tensor x = Tensor::full({1, 4}, 1);
  const Value doubled = mlp(x);
  const Value quadrupled = mlp(kw("scale", 4.0), kw("x", x));
  for (int64_t i = 0; i < 4; ++i)
    EXPECT_FLOAT_EQ(doubled.as_tensor().at({0, i}) * 2,
                    quadrupled.as_tensor().at({0, i}));
  EXPECT_EQ(message_of<TypeError>([&] { mlp(); }),
            "Mlp.forward() missing 1 required positional argument: 'x'");
  EXPECT_EQ(message_of<TypeError>([&] { mlp(x, 1, 2); }),
            "Mlp.forward() takes from 2 to 3 positional arguments but 4 were "
            "given");
  EXPECT_EQ(message_of<TypeError>([&] { mlp(x, kw("zoom", 1)); }),
            "Mlp.forward() got an unexpected keyword argument 'zoom'");
  EXPECT_EQ(message_of<TypeError>([&] { mlp(x, kw("x", x)); }),
            "Mlp.forward() got multiple values for argument 'x'");
}

TEST(Module, DeclaredArgumentsMustFitForward) {
  class Wrong : public Custom<Wrong> {
   public:
    Wrong() : Custom("Wrong", {"x", "y"}) {}
    Value forward(Value x) { return x; }
  };
  EXPECT_EQ(message_of<UserError>([] { Wrong::create()(1, 2); }),
            "[Wrong.forward] declared arguments: expected 1 to fit its "
            "parameters, got 2");
}

TEST(Module, SharedModulesAndTiedWeightsAppearOnce) {
  class Tied : public Custom<Tied> {
   public:
    Tied() : Custom("Tied", {"x"}) {
      const auto shared = Linear::create(2, 2);
      register_module("a", shared);
      register_module("b", shared);
      const auto head = register_module("head", Linear::create(2, 2));
      head->weight = head->register_parameter("weight", shared->weight);
    }
    Value forward(Value x) { return x; }
  };
  const auto tied = Tied::create();
  EXPECT_THAT(names(tied->named_modules()), ElementsAre("", "a", "head"));
  EXPECT_THAT(names(tied->named_parameters()),
              ElementsAre("a.weight", "a.bias", "head.bias"));
  EXPECT_EQ(tied->state_dict().size(), 6u);
}

TEST(Module, RegistrationErrors) {
  Module module("M");
  module.register_parameter("w", Tensor::zeros({1}));
  EXPECT_EQ(message_of<KeyError>(
                [&] { module.register_buffer("w", Tensor::zeros({1})); }),
            "attribute 'w' already exists");
  EXPECT_EQ(message_of<KeyError>(
                [&] { module.register_module("a.b", Linear::create(1, 1)); }),
            "module name can't contain \".\", got: a.b");
  EXPECT_EQ(message_of<KeyError>(
                [&] { module.register_parameter("", Tensor::zeros({1})); }),
            "parameter name can't be empty string \"\"");
  EXPECT_EQ(message_of<AttributeError>([&] { module.param("nope"); }),
            "'M' object has no attribute 'nope'");
  EXPECT_EQ(message_of<AttributeError>([&] { module.get_submodule("w"); }),
            "`w` is not an nn.Module");
  EXPECT_EQ(message_of<AttributeError>([&] { module.get_parameter("q"); }),
            "M has no attribute `q`");
  EXPECT_EQ(message_of<NotImplementedError>([&] { module(1); }),
            "Module [M] is missing the required \"forward\" function");
}

TEST(Module, TrainAndEvalReachTheWholeTree) {
  const auto mlp = Mlp::create();
  EXPECT_TRUE(mlp->up->training());
  mlp->eval();
  EXPECT_FALSE(mlp->training());
  EXPECT_FALSE(mlp->up->training());
  mlp->train();
  EXPECT_TRUE(mlp->down->training());
}

TEST(Module, PrintsAsTorch) {
  const auto net = Sequential::create(
      Linear::create(1, 2), Mlp::create(),
      ModuleList::create(ReLU::create(), ReLU::create(), Tanh::create()));
  EXPECT_EQ(net->str(),
            "Sequential(\n"
            "  (0): Linear(in_features=1, out_features=2, bias=True)\n"
            "  (1): Mlp(\n"
            "    (up): Linear(in_features=4, out_features=8, bias=True)\n"
            "    (down): Linear(in_features=8, out_features=4, bias=True)\n"
            "  )\n"
            "  (2): ModuleList(\n"
            "    (0-1): 2 x ReLU()\n"
            "    (2): Tanh()\n"
            "  )\n"
            ")");
}

TEST(LoadStateDict, TakesTensorsWithoutCopying) {
  const auto linear = Linear::create(2, 3);
  const Tensor weight = Tensor::full({3, 2}, 5);
  linear->load_state_dict({{"weight", weight}, {"bias", Tensor::full({3}, 1)}});
  EXPECT_EQ(linear->weight.tensor().data(), weight.data());
  EXPECT_EQ(linear(Tensor::full({1, 2}, 1)).as_tensor().at({0, 0}), 11);
}

TEST(LoadStateDict, ConvertsTypes) {
  const auto linear = Linear::create(2, 3, false);
  linear->load_state_dict({{"weight", Tensor::full({3, 2}, 5, DType::f16)}});
  EXPECT_EQ(linear->weight.dtype(), DType::f32);
  EXPECT_EQ(linear->weight.tensor().at({1, 1}), 5);
}

TEST(LoadStateDict, NamesEveryProblemAndChangesNothing) {
  const auto linear = Linear::create(2, 3);
  const void* const before = linear->weight.tensor().data();
  EXPECT_EQ(message_of<UserError>([&] {
              linear->load_state_dict({{"weight", Tensor::zeros({1, 2})},
                                       {"foo", Tensor::zeros({1})}});
            }),
            "Error(s) in loading state_dict for Linear:\n"
            "\tMissing key(s) in state_dict: \"bias\".\n"
            "\tUnexpected key(s) in state_dict: \"foo\".\n"
            "\tsize mismatch for weight: expected [3, 2], got [1, 2].");
  EXPECT_EQ(linear->weight.tensor().data(), before);
}

TEST(LoadStateDict, NotStrictReports) {
  const auto linear = Linear::create(2, 3);
  const LoadReport report = linear->load_state_dict(
      {{"weight", Tensor::full({3, 2}, 1)}, {"foo", Tensor::zeros({1})}},
      /*strict=*/false);
  EXPECT_THAT(report.missing, ElementsAre("bias"));
  EXPECT_THAT(report.unexpected, ElementsAre("foo"));
  EXPECT_EQ(linear->weight.tensor().at({0, 0}), 1);
  EXPECT_THROW(linear->load_state_dict({{"weight", Tensor::zeros({9})}}, false),
               UserError);
}

TEST(SkipInit, ParametersHaveNoMemoryUntilLoaded) {
  const auto linear = [] {
    const SkipInit skip;
    return Linear::create(2, 3);
  }();
  EXPECT_TRUE(linear->weight.tensor().is_meta());
  EXPECT_FALSE(Linear::create(1, 1)->weight.tensor().is_meta());
  linear->load_state_dict(std::map<std::string, Tensor>{
      {"weight", Tensor::zeros({3, 2})}, {"bias", Tensor::zeros({3})}});
  EXPECT_EQ(linear(Tensor::zeros({1, 2})).as_tensor().at({0, 2}), 0);
}

TEST(Containers, SequentialListDict) {
  const auto net = Sequential::create(ReLU::create(), Tanh::create());
  EXPECT_EQ(net->size(), 2u);
  EXPECT_EQ((*net)[-1]->type_name(), "Tanh");
  EXPECT_EQ(message_of<IndexError>([&] { (*net)[2]; }),
            "index 2 is out of range");
  EXPECT_EQ(net(Tensor::full({1}, -3)).as_tensor().item(), 0);

  const auto list = ModuleList::create();
  list->append(ReLU::create());
  EXPECT_EQ(list->modules().size(), 1u);

  const auto dict = ModuleDict::create({{"act", ReLU::create()}});
  EXPECT_TRUE(dict->contains("act"));
  EXPECT_EQ((*dict)["act"]->type_name(), "ReLU");
  EXPECT_THROW((*dict)["nope"], KeyError);
}

TEST(OrderedDict, KeepsOrderWhenSmallAndLarge) {
  OrderedDict<int> dict;
  for (int i = 0; i < 100; ++i) dict.set("k" + std::to_string(i), i);
  dict.set("k3", 33);
  EXPECT_TRUE(dict.erase("k50"));
  EXPECT_FALSE(dict.erase("k50"));
  EXPECT_EQ(dict.size(), 99u);
  EXPECT_EQ(*dict.find("k3"), 33);
  EXPECT_EQ(*dict.find("k99"), 99);
  EXPECT_EQ(dict.find("k50"), nullptr);
  EXPECT_EQ(dict.entry(50).first, "k51");
  for (int i = 0; i < 99; ++i) dict.erase(dict.entry(0).first);
  EXPECT_TRUE(dict.empty());
}

}  // namespace TEST_FILE
}  // namespace fxjit::nn
