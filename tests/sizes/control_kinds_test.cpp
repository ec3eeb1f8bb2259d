// Branches, loops and recurrent layers among named sizes: one kind, the
// programs of the numbers, and the interpreter's results.
#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/nn.h"
#include "src/compile/compiled_module.h"
#include "tests/compile/compile_testing.h"
#include "tests/sizes/both_ways.h"

namespace fxjit::testing_sizes {
namespace TEST_FILE {

namespace F = nn::functional;
using testing::random_tensor;

// A branch by the numbers of `x`, with a product in it.
nn::Ref<fx::GraphModule> branch() {
  const Tensor weight = random_tensor({8, 8}, DType::f32, 5);
  return fx::symbolic_trace(
      [weight](Value x) {
        return cond(
            sum(x) > 0.0,
            [weight](Value y) { return F::gelu(F::linear(y, weight)) * 0.5; },
            [](Value y) { return F::softmax(y, 0) + 1.0; },
            ValueList{F::relu(x) + x});
      },
      {"x"}, "branch");
}

// As many rounds as the first number says.
nn::Ref<fx::GraphModule> loop() {
  return fx::symbolic_trace(
      [](Value n, Value x) {
        const Value done = while_loop(
            [](Value left, Value) { return left > 0; },
            [](Value left, Value y) {
              return Value::tuple({left - 1, tanh(y) + mean(y, Dims{0}, true)});
            },
            ValueList{n, x});
        return done.at(1) * 2.0;
      },
      {"n", "x"}, "loop");
}

void check(const std::function<nn::Ref<fx::GraphModule>()>& make,
           const std::function<ValueList(int64_t)>& inputs) {
  const auto gm = make();
  compile(*gm, testing::quick());
  for (int64_t rows = 2; rows < 12; ++rows)
    EXPECT_EQ(
        testing::value_difference(gm->forward(inputs(rows)),
                                  gm->interpret(inputs(rows)), 1e-5, 1e-5),
        "")
        << rows;
  EXPECT_EQ(compiled_module(*gm)->kinds(), 1U);
  const Report report = make_report(*gm);
  EXPECT_TRUE(report.native()) << report.text();
  ASSERT_EQ(report.kinds.size(), 1U);
  EXPECT_EQ(report.kinds[0].why_not, "");

  const ValueList present = inputs(5);
  SizeKinds kinds(size_t{1} << 30);
  kinds.note(*sizes_of(inputs(4), {}));
  BothWays ways(*gm, present, *kinds.note(*sizes_of(present, {})),
                plan_options(CpuLevel::avx2, 1, false));
  Seen seen;
  EXPECT_EQ(compare(ways, 8, 1e3, 1, seen), "");
  EXPECT_GT(seen.tuples, 1);
}

TEST(ControlKinds, BranchesAmongNamedSizesAreOneKind) {
  check(branch, [](int64_t rows) {
    return ValueList{random_tensor({rows, 8}, DType::f32, uint32_t(rows))};
  });
}

TEST(ControlKinds, LoopsAmongNamedSizesAreOneKind) {
  check(loop, [](int64_t rows) {
    return ValueList{Tensor::full({}, rows % 3, DType::i64),
                     random_tensor({rows, 8}, DType::f32, uint32_t(rows))};
  });
}

TEST(ControlKinds, RecurrentLayersOverNamedLengthsAreOneKind) {
  const auto sequences = [](int64_t rows) {
    return ValueList{random_tensor({rows, 3, 12}, DType::f32, uint32_t(rows))};
  };
  check(
      [] {
        return fx::symbolic_trace(
            nn::Sequential::create(nn::LSTM::create(12, 20)));
      },
      sequences);
  check(
      [] {
        return fx::symbolic_trace(
            nn::Sequential::create(nn::GRU::create(12, 20)));
      },
      sequences);
}

}  // namespace TEST_FILE
}  // namespace fxjit::testing_sizes
