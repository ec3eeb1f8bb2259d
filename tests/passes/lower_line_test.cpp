// Convolutions over lines whose windows are runs of memory become products.

#include "tests/passes/pass_matchers.h"

namespace fxjit {
namespace TEST_FILE {

const Tensor kFirst = random_tensor({8, 1, 5}, 3);
const Tensor kNext = random_tensor({6, 8, 3}, 4);
const Tensor kBias = random_tensor({6}, 5);

Value list_of(std::initializer_list<Value> items) { return Value::list(items); }

template <typename Fn>
std::vector<std::string> fused(Fn f, const Tensor& input) {
  const Passed passed = run_passes(f, {input});
  EXPECT_EQ(wrong_result(passed), "");
  return regions(passed.model);
}

TEST(LineWindows, AreProducts) {
  for (int64_t stride : {1, 2, 3, 7})
    EXPECT_THAT(fused(
                    [&](Value x) {
                      const Value y =
                          F::relu(F::conv1d(x, kFirst, None, Value(stride)));
                      return F::relu(F::conv1d(y, kNext, kBias, Value(2)));
                    },
                    random_tensor({2, 1, 61})),
                Not(Contains(HasSubstr("call:"))));
}

TEST(LineWindows, WithoutABatch) {
  EXPECT_THAT(fused([](Value x) { return F::conv1d(x, kFirst); },
                    random_tensor({1, 30})),
              Not(Contains(HasSubstr("call:"))));
}

TEST(LineWindows, OneWindowOnly) {
  EXPECT_THAT(fused([](Value x) { return F::conv1d(x, kFirst); },
                    random_tensor({3, 1, 5})),
              Not(Contains(HasSubstr("call:"))));
}

// Images of one column (or row) are lines, whatever the weight's size.
TEST(LineWindows, OfThinPlanes) {
  const Tensor weight = random_tensor({9000, 6, 5, 1}, 7);
  const auto down = [&](Value x) {
    // Channels lie innermost.
    return F::relu(F::conv2d(permute(x, {0, 2, 1, 3}), weight));
  };
  EXPECT_THAT(fused(down, random_tensor({2, 9, 6, 1})),
              Not(Contains(HasSubstr("call:"))));
  const Tensor across = random_tensor({6, 8, 1, 3}, 8);
  const auto along = [&](Value x) {
    return F::conv2d(permute(x, {0, 3, 1, 2}), across, kBias);
  };
  EXPECT_THAT(fused(along, random_tensor({2, 1, 20, 8})),
              Not(Contains(HasSubstr("call:"))));
}

TEST(LineWindows, OfThinPlanesWithOtherGeometry) {
  const Tensor weight = random_tensor({4, 3, 3, 1}, 9);
  for (const int64_t groups : {1, 2})
    for (const int64_t pad : {0, 2})
      for (const int64_t stride : {1, 3}) {
        const Passed passed = run_passes(
            [&](Value x) {
              return F::conv2d(x, weight, None, list_of({stride, 1}),
                               list_of({pad, 0}), list_of({2, 1}), groups);
            },
            {random_tensor({2, 3 * groups, 17, 1})});
        EXPECT_EQ(wrong_result(passed), "");
      }
  const Tensor up = random_tensor({3, 4, 1, 3}, 10);
  const Passed passed = run_passes(
      [&](Value x) {
        return F::conv_transpose2d(x, up, None, list_of({1, 2}),
                                   list_of({0, 1}), list_of({0, 1}));
      },
      {random_tensor({2, 3, 1, 7})});
  EXPECT_EQ(wrong_result(passed), "");
}

TEST(LineWindows, OthersAreConvolutions) {
  const auto padded = [](Value x) {
    return F::conv1d(x, kFirst, None, Value(1), Value(2));
  };
  const auto dilated = [](Value x) {
    return F::conv1d(x, kFirst, None, Value(1), Value(0), Value(2));
  };
  const Tensor line = random_tensor({2, 1, 40});
  EXPECT_THAT(fused(padded, line), Contains("call: conv_last"));
  EXPECT_THAT(fused(dilated, line), Contains("call: conv_last"));
  // Planes of several channels are no runs of windows.
  EXPECT_THAT(fused([](Value x) { return F::conv1d(x, kNext); },
                    random_tensor({2, 8, 20})),
              Contains("contraction: window"));
  // Every other element of a longer line.
  EXPECT_THAT(fused(
                  [](Value x) {
                    return F::conv1d(
                        function("aten.slice.Tensor", {x, 2, 0, 40, 2}),
                        kFirst);
                  },
                  line),
              Contains("call: conv_last"));
}

}  // namespace TEST_FILE
}  // namespace fxjit
