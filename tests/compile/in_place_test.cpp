// Results that take the place of operands in a program's working memory: where
// it is right, where it would be wrong.
#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

namespace F = nn::functional;
using testing::options_for;
using testing::random_tensor;
using testing::value_difference;

constexpr int64_t kRows = 48, kColumns = 96;
constexpr size_t kBuffer = kRows * kColumns * 4;

// Checks the answer; gives the working memory in whole values of 48 x 96.
template <typename Fn>
size_t buffers_of(Fn fn, const ValueList& inputs) {
  const auto gm = fx::symbolic_trace(fn, {"x"}, "f");
  size_t bytes = 0;
  for (CpuLevel level : testing::host_levels()) {
    CompileOptions options = options_for(level, 2);
    options.disabled_passes = {"fuse"};  // Every op is a step.
    compile(*gm, options);
    EXPECT_EQ(value_difference(gm->forward(inputs), gm->interpret(inputs), 1e-5,
                               1e-5),
              "");
    bytes = profile(*gm, inputs, 1).arena_bytes;
  }
  return (bytes + kBuffer - 1) / kBuffer;
}

ValueList matrix() { return {random_tensor({kRows, kColumns})}; }

TEST(InPlace, ChainsNeedOneBuffer) {
  const auto chain = [](Value x) {
    for (int i = 0; i < 6; ++i) x = tanh(x * 0.5 + 1);
    return relu(x);
  };
  EXPECT_EQ(buffers_of(chain, matrix()), 1u);
}

// A product is stored, and read with an operand that ends there.
TEST(InPlace, ProductsOfTwoResultsReadBeforeTheyWrite) {
  const Tensor weight = random_tensor({kColumns, kColumns});
  const auto two = [&](Value x) {
    const Value other = flip(x * 2, {1}), y = F::linear(x, weight);
    return flip(y, {0}) + flip(y + other, {1});
  };
  const auto gm = fx::symbolic_trace(two, {"x"}, "f");
  const ValueList inputs{random_tensor({kRows, kColumns})};
  for (CpuLevel level : testing::host_levels()) {
    compile(*gm, options_for(level, 2));
    EXPECT_EQ(value_difference(gm->forward(inputs), gm->interpret(inputs), 1e-4,
                               1e-4),
              "");
  }
}

// A step of several passes over a row reads each element, then writes it.
TEST(InPlace, RowsThatAreReadAgainAreWrittenLast) {
  const Tensor weight = random_tensor({kColumns, kColumns});
  const auto gm = fx::symbolic_trace(
      [&](Value x) {
        for (int i = 0; i < 3; ++i) {
          x = F::linear(x, weight);
          x = softmax(F::layer_norm(x + 1, {kColumns}), -1);
        }
        return x;
      },
      {"x"}, "f");
  for (CpuLevel level : testing::host_levels()) {
    compile(*gm, options_for(level, 2));
    const ValueList inputs = matrix();
    EXPECT_EQ(value_difference(gm->forward(inputs), gm->interpret(inputs), 1e-5,
                               1e-5),
              "");
    EXPECT_EQ(profile(*gm, inputs, 1).arena_bytes, 2 * kBuffer);
  }
}

TEST(InPlace, NotWhereAnOperandIsReadElsewhere) {
  const auto turned = [](Value x) {
    Value y = relu(x);  // Read along both dims by one step.
    return (y + transpose(y, 0, 1)) * 2;
  };
  EXPECT_EQ(buffers_of(turned, {random_tensor({70, 70})}), 3u);
}

TEST(InPlace, NotWhereAnOperandIsBroadcast) {
  const auto rows = [](Value x) { return relu(relu(sum(x, {0}, true)) + x); };
  buffers_of(rows, matrix());
  const auto shifted = [](Value x) {
    Value y = relu(x);
    return relu(narrow(y, 0, 1, kRows - 1) + narrow(y, 0, 0, kRows - 1));
  };
  buffers_of(shifted, matrix());
}

TEST(InPlace, NotWhereAnOperandIsUsedLater) {
  const auto kept = [](Value x) {
    Value y = relu(x);
    Value z = tanh(y);
    return (y - z) * y;
  };
  EXPECT_LE(buffers_of(kept, matrix()), 2u);
}

// The residual is the product's other operand, too: rows of it are read after
// the first results are written.
TEST(InPlace, ResidualsOfContractions) {
  const Tensor weight = random_tensor({kColumns, kColumns});
  const auto block = [&](Value x, bool same) {
    Value y = relu(x);
    return relu(F::linear(same ? y : tanh(x), weight) + y) * 2;
  };
  for (bool same : {true, false}) {
    const auto gm =
        fx::symbolic_trace([&](Value x) { return block(x, same); }, {"x"}, "f");
    for (CpuLevel level : testing::host_levels()) {
      compile(*gm, options_for(level, 2));
      const ValueList inputs = matrix();
      EXPECT_EQ(value_difference(gm->forward(inputs), gm->interpret(inputs),
                                 1e-5, 1e-4),
                "");
    }
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
