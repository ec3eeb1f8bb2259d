// Writes to views of what layers give, and inside layers that give their input
// back.
#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "tests/compile/compile_testing.h"
#include "tests/ops/storages.h"

namespace fxjit {
namespace TEST_FILE {

using testing::random_tensor;
using testing::value_difference;

TEST(AliasedLayers, ViewsOfLayers) {
  class Net : public nn::Custom<Net> {
   public:
    Net() : Custom("Net", {"x"}) {
      conv = register_module("conv", nn::Conv2d::create(3, 8, 3));
      norm = register_module("norm", nn::BatchNorm2d::create(8));
    }
    Value forward(Value x) {
      const Value y = relu(norm(conv(x)));
      method(getitem(y, Value::tuple({Value::slice(None, None), 0})), "fill_",
             {3.0});
      return y + 1;
    }
    nn::Ref<nn::Conv2d> conv;
    nn::Ref<nn::BatchNorm2d> norm;
  };
  const Value input = random_tensor({2, 3, 6, 6});
  const auto net = Net::create();
  net->eval();
  const auto gm = fx::symbolic_trace(net);
  compile(*gm, testing::quick());
  const Value got = gm->forward(ValueList{input}),
              known = gm->interpret(ValueList{input});
  EXPECT_EQ(value_difference(got, known, 1e-5, 1e-5), "");
  const Value channel =
      getitem(got, Value::tuple({Value::slice(None, None), 0}));
  EXPECT_EQ(value_difference(channel, Tensor::full({2, 4, 4}, 4), 0, 0), "");
}

TEST(AliasedLayers, InsideLeavesThatGiveTheirInput) {
  class Adds : public nn::Custom<Adds, nn::LeafModule> {
   public:
    Adds() : Custom("Adds", {"x"}) {}
    Value forward(Value x) {
      method(x, "add_", {1});
      return x;
    }
  };
  class Net : public nn::Custom<Net> {
   public:
    Net() : Custom("Net", {"x"}) {
      adds = register_module("adds", Adds::create());
    }
    Value forward(Value x) {
      const Value y = x * 2;
      return Value::tuple({adds(y), y});
    }
    nn::Ref<Adds> adds;
  };
  const auto gm = fx::symbolic_trace(Net::create());
  compile(*gm, testing::quick());
  const Value x = random_tensor({3, 4});
  for (const Value& got :
       {gm->interpret(ValueList{x}), gm->forward(ValueList{x})}) {
    EXPECT_EQ(
        value_difference(got, Value::tuple({x * 2 + 1, x * 2 + 1}), 1e-6, 0),
        "");
    EXPECT_EQ(testing::memories(got, {x}), "a_a");
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
