#include "fxjit/nn/lambda.h"

#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/nn.h"

namespace fxjit::nn {
namespace TEST_FILE {

template <typename E, typename Fn>
std::string message_of(Fn fn) {
  try {
    fn();
  } catch (const E& error) {
    return error.message();
  }
  return "no error";
}

ModuleRef make_mlp() {
  auto up = Linear::create(4, 8), down = Linear::create(8, 4);
  return lambda(
      "Mlp", {"x", "*", {"scale", 2.0}},
      [=](Value x, const Value& scale) { return down(relu(up(x))) * scale; },
      {{"up", up}, {"down", down}, {"shift", Parameter(Tensor::zeros({1}))}});
}

TEST(Lambda, IsAModuleLikeOthers) {
  const ModuleRef mlp = make_mlp();
  const Tensor x = Tensor::full({2, 4}, 1);
  const Value once = mlp(x, kw("scale", 1.0)), twice = mlp(x);
  EXPECT_FLOAT_EQ(once.as_tensor().at({1, 3}) * 2,
                  twice.as_tensor().at({1, 3}));
  EXPECT_EQ(mlp->type_name(), "Mlp");
  EXPECT_EQ(mlp->state_dict().size(), 5u);
  EXPECT_EQ(mlp->repr(),
            "Mlp(\n  (up): Linear(in_features=4, out_features=8, bias=True)\n"
            "  (down): Linear(in_features=8, out_features=4, bias=True)\n)");
  EXPECT_EQ(fx::symbolic_trace(mlp)->code(),
            "\n\n\ndef forward(self, x, scale = 2.0):\n"
            "    up = self.up(x);  x = None\n"
            "    relu = torch.relu(up);  up = None\n"
            "    down = self.down(relu);  relu = None\n"
            "    mul = down * scale;  down = scale = None\n"
            "    return mul\n    ");
}

TEST(Lambda, StandsInOtherModules) {
  const auto pair = Sequential::create(
      make_mlp(), lambda("Half", {"x"}, [](Value x) { return x / 2; }));
  EXPECT_EQ(fx::symbolic_trace(pair)->graph().size(), 7u);
}

TEST(Lambda, CopiesCallTheirOwnMembers) {
  const ModuleRef mlp = make_mlp();
  const ModuleRef copy = deep_copy(*mlp);
  const Tensor x = Tensor::full({1, 4}, 1);
  const double before = mlp(x).as_tensor().at({0, 0});
  copy->get_parameter("down.weight").tensor().copy_from(Tensor::zeros({4, 8}));
  copy->get_parameter("down.bias").tensor().copy_from(Tensor::full({4}, 7));
  EXPECT_EQ(copy(x).as_tensor().at({0, 0}), 14);
  EXPECT_EQ(mlp(x).as_tensor().at({0, 0}), before);
}

TEST(Lambda, MayTakeTheModuleItself) {
  const ModuleRef scaled =
      lambda("Scaled", {"x"},
             [](Module& self, Value x) { return x * self.param("scale"); },
             {{"scale", Value(3.0)}});
  EXPECT_EQ(scaled(2.0).as_double(), 6.0);
}

TEST(Lambda, ArgumentsAndMembersAreChecked) {
  EXPECT_EQ(message_of<UserError>([] {
              lambda("M", {"x", "y"}, [](Value x) { return x; })(1, 2);
            }),
            "[function] declared arguments: expected 1 to fit its parameters, "
            "got 2");
  EXPECT_EQ(message_of<TypeError>([] {
              lambda("M", {"x"}, [](Value x) { return x; }, {{"m", {}}});
            }),
            "nn::lambda: member 'm': expected a module, Parameter, Buffer or "
            "value, got nothing");
}

}  // namespace TEST_FILE
}  // namespace fxjit::nn
