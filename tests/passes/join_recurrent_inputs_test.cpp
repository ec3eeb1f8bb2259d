// Recurrent layers with the product with their inputs inside, and those that
// keep it apart.
#include "tests/passes/pass_matchers.h"

namespace fxjit {
namespace TEST_FILE {

constexpr passes::RecurrentMachine kFast{CpuLevel::avx512, 1};

// y = recurrence([linear(x, w, b)], ...) for inputs [length, batch, 6].
struct Layer {
  bool biased = true, swapped = false, shown = false, given_weight = false;
  int64_t length = 3, batch = 5, hidden = 7;

  Passed passed(passes::RecurrentMachine machine = kFast) const {
    const Tensor weight = random_tensor({4 * hidden, 6}, 1);
    const Tensor states = random_tensor({4 * hidden, hidden}, 2);
    const Value bias = biased ? Value(random_tensor({4 * hidden}, 3)) : Value();
    const auto call = [=, *this](Value x, Value w, Value h) {
      const Value sums = F::linear(x, given_weight ? w : Value(weight), bias);
      const Value gates = swapped ? transpose(sums, 0, 1) : sums;
      const Value made = function(
          "fxjit.recurrence",
          {Value::list({gates}), Value::list({states}), Value::list({}), h, h});
      const Value y = getitem(made, 0);
      return shown ? Value::tuple({y, gates}) : y;
    };
    const Dims size = swapped ? Dims{batch, length, 6} : Dims{length, batch, 6};
    passes::PipelineOptions options;
    options.recurrent = machine;
    return testing::run_passes_with(
        options, fx::symbolic_trace(call, {"x", "w", "h"}),
        {random_tensor(size, 4), random_tensor({4 * hidden, 6}, 5),
         random_tensor({1, batch, hidden}, 6)});
  }
};

void expect_joined(const Passed& passed) {
  EXPECT_THAT(passed.changed, Contains("join_recurrent_inputs"));
  EXPECT_EQ(wrong_result(passed), "");
}

void expect_apart(const Passed& passed) {
  EXPECT_THAT(passed.changed, Not(Contains("join_recurrent_inputs")));
  EXPECT_EQ(wrong_result(passed), "");
}

TEST(JoinRecurrentInputs, Fires) {
  expect_joined(Layer{}.passed());
  expect_joined(Layer{.biased = false}.passed());
  expect_joined(Layer{.swapped = true}.passed());
  expect_joined(Layer{.length = 32, .batch = 1, .hidden = 64}.passed());
}

TEST(JoinRecurrentInputs, NotWhereProductsAreFast) {
  expect_apart(Layer{}.passed(
      {.level = CpuLevel::avx512, .threads = 1, .fast_products = true}));
}

TEST(JoinRecurrentInputs, NotWhereTheGatesAreRead) {
  expect_apart(Layer{.shown = true}.passed());
  expect_apart(Layer{.swapped = true, .shown = true}.passed());
}

TEST(JoinRecurrentInputs, NotWithWeightsOfTheCall) {
  expect_apart(Layer{.given_weight = true}.passed());
}

TEST(JoinRecurrentInputs, NotWhereItIsSlower) {
  expect_apart(Layer{}.passed({CpuLevel::avx2, 1}));
  expect_apart(Layer{}.passed({CpuLevel::avx512, 2}));
  expect_apart(Layer{.batch = 3}.passed());
  expect_apart(Layer{.length = 31, .batch = 1, .hidden = 64}.passed());
}

}  // namespace TEST_FILE
}  // namespace fxjit
