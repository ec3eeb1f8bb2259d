// Kinds under a memory_cap: the least recently used are dropped, and calls of
// their sizes are right all the same.
#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "src/compile/compiled_module.h"
#include "tests/compile/compile_testing.h"

namespace fxjit::testing_sizes {
namespace TEST_FILE {

constexpr int kRanks = 6;

nn::Ref<fx::GraphModule> model() {
  return fx::symbolic_trace(
      [](Value x) {
        Value y = x;
        for (int i = 0; i < 8; ++i) y = tanh(y) * 0.5 + x;
        return softmax(y, -1);
      },
      {"x"}, "several_ranks");
}

// All sizes equal; each rank is a structure of inputs of its own.
ValueList of_rank(int rank, int64_t size) {
  return {testing::random_tensor(
      Dims(std::vector<int64_t>(static_cast<size_t>(rank), size)))};
}

// Two calls of each rank: the second one makes a kind.
void call_all(fx::GraphModule& gm) {
  for (int rank = 1; rank <= kRanks; ++rank)
    for (const int64_t size : {2, 3}) {
      const ValueList inputs = of_rank(rank, size);
      EXPECT_EQ(testing::value_difference(gm.forward(inputs),
                                          gm.interpret(inputs), 1e-5, 1e-6),
                "")
          << rank << " dims of " << size;
    }
}

TEST(KindMemory, FewKindsAreKeptUnderASmallCap) {
  const auto all = model();
  compile(*all, testing::quick());
  call_all(*all);
  EXPECT_EQ(compiled_module(*all)->kinds(), size_t{kRanks});

  const auto few = model();
  CompileOptions options = testing::quick();
  options.memory_cap = 400 << 10;
  compile(*few, options);
  for (int round = 0; round < 3; ++round) call_all(*few);
  EXPECT_GE(compiled_module(*few)->kinds(), 1U);
  EXPECT_LT(compiled_module(*few)->kinds(), size_t{kRanks});
}

}  // namespace TEST_FILE
}  // namespace fxjit::testing_sizes
