// What depends on weights alone and is too large to be made for each size of
// inputs: made once for the module, not by its calls.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "fxjit/report.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

namespace F = nn::functional;
using ::testing::ElementsAre;
using testing::quick;
using testing::random_tensor;
using testing::value_difference;

// 2 MiB, above what is made for each size.
constexpr int64_t kRows = 1024, kColumns = 512;

nn::Ref<fx::GraphModule> traced(std::function<Value(Value w, Value x)> fn,
                                const Tensor& w) {
  const auto module = nn::lambda(
      "Weights", {"x"},
      [fn](nn::Module& self, Value x) { return fn(self.param("w"), x); },
      {{"w", nn::Parameter(w)}});
  return fx::symbolic_trace(module);
}

Value standardised(const Value& w) {
  const Value centred = w - mean(w, 1, true);
  return centred * rsqrt(mean(centred * centred, 1, true) + 1e-5);
}

std::vector<std::string> labels(const fx::GraphModule& gm, const Tensor& x) {
  std::vector<std::string> all;
  for (const testing::StepView& step : testing::steps_for(gm, ValueList{x}))
    all.push_back(step.label);
  return all;
}

TEST(WeightsOnce, CallsHaveTheProductAlone) {
  const Tensor w = random_tensor({kRows, kColumns});
  const auto fn = [](Value weight, Value x) {
    return F::relu(F::linear(x, standardised(weight)));
  };
  const auto gm = traced(fn, w);
  compile(*gm, quick());
  for (int64_t rows : {3, 40}) {
    const Tensor x = random_tensor({rows, kColumns}, DType::f32, 2);
    const Value wanted =
        traced(fn, w.to(DType::f64))->interpret(ValueList{x.to(DType::f64)});
    const Tensor got = gm->forward(ValueList{x}).as_tensor();
    EXPECT_EQ(value_difference(got.to(DType::f64), wanted, 1e-5, 1e-3), "");
    EXPECT_THAT(labels(*gm, x), ElementsAre("contract+relu"));
  }
}

TEST(WeightsOnce, MadeWeightsAreResultsOfTheirOwn) {
  const Tensor w = random_tensor({kRows, kColumns});
  const auto gm = traced(
      [](Value weight, Value x) {
        const Value made = standardised(weight);
        return Value::tuple({made, made * x});
      },
      w);
  compile(*gm, quick());
  const Tensor x = random_tensor({1});
  const Value first = gm->forward(ValueList{x});
  first.at(0).as_tensor().fill_(0);
  EXPECT_EQ(value_difference(gm->forward(ValueList{x}),
                             gm->interpret(ValueList{x}), 1e-5, 1e-5),
            "");
}

// Weights that are larger than what they are made of would take memory.
TEST(WeightsOnce, NotWhatIsLargerThanItsSources) {
  const Tensor w = random_tensor({kRows, kColumns}).to(DType::i8);
  const auto gm = traced(
      [](Value weight, Value x) {
        return sum(method(weight, "to", {DType::f32}) * x, 1);
      },
      w);
  compile(*gm, quick());
  const Tensor x = random_tensor({kColumns});
  EXPECT_EQ(value_difference(gm->forward(ValueList{x}),
                             gm->interpret(ValueList{x}), 1e-5, 1e-3),
            "");
  EXPECT_THAT(labels(*gm, x), ElementsAre("cast+mul+sum"));
}

}  // namespace TEST_FILE
}  // namespace fxjit
