// Kinds under a memory_cap: the least recently used are dropped, and calls of
// their sizes are right all the same.
#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/report.h"
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

// Programs that are made anew in a millisecond take a small share of the cap.
TEST(KindMemory, ProgramsOfManySizesAreFew) {
  CompileOptions options = testing::quick();
  options.memory_cap = 4 << 20;
  options.sizes = {{NamedSize{"length"}}};
  constexpr int64_t kLengths = 100;
  const auto sized = model();
  compile(*sized, options);
  const auto call = [&](int64_t length) {
    const ValueList inputs{testing::random_tensor({length, 8})};
    EXPECT_EQ(testing::value_difference(sized->forward(inputs),
                                        sized->interpret(inputs), 1e-5, 1e-6),
              "")
        << length;
  };
  for (int64_t length = 2; length < 2 + kLengths; ++length) call(length);
  const CompiledSize size = compiled_size(*sized);
  EXPECT_GT(size.programs, 2U);
  EXPECT_LT(size.programs, size_t{kLengths});
  EXPECT_LT(size.bytes, options.memory_cap / 4);
  call(2);  // It was dropped.
  EXPECT_EQ(compiled_module(*sized)->kinds(), 1U);
}

}  // namespace TEST_FILE
}  // namespace fxjit::testing_sizes
