// Memory of a process after many shapes, each computed by the interpreter as
// well: within the cap of the module's programs, a fifth more, and 40 MB.
#include <gtest/gtest.h>
#include <malloc.h>

#include <functional>

#include "fxjit/functions.h"
#include "fxjit/functions_structured.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "fxjit/report.h"
#include "tests/compile/compile_testing.h"
#include "tests/compile/process_memory.h"
#include "tests/compile/subprocess.h"
#include "tests/support/sanitizers.h"

namespace fxjit {
namespace TEST_FILE {

namespace F = nn::functional;
using testing::quick;
using testing::random_tensor;
using testing::run_child;

constexpr size_t kMega = size_t{1} << 20;
constexpr size_t kCap = 24 * kMega;

size_t memory_used() {
  malloc_trim(0);
  return testing::anonymous_memory();
}

void run_shapes(fx::GraphModule& gm, int count,
                const std::function<Tensor(int)>& input) {
  CompileOptions options = quick();
  options.memory_cap = kCap;
  const size_t before = memory_used();
  compile(gm, options);
  for (int i = 0; i < count; ++i) {
    const ValueList inputs{input(i)};
    gm.forward(inputs);
    gm.interpret(inputs);
  }
  const size_t used = memory_used() - before;
  EXPECT_LT(used / kMega, (kCap + kCap / 5 + 40 * kMega) / kMega);
}

TEST(Child, DISABLED_ManySizesOfImages) {
  const Tensor first = random_tensor({16, 3, 3, 3});
  const Tensor second = random_tensor({16, 16, 5, 5});
  const auto gm = fx::symbolic_trace(
      [&](Value x) {
        const Value y = F::relu(F::conv2d(x, first, None, 2, 1));
        return F::max_pool2d(F::relu(F::conv2d(y, second, None, 2, 2)), 2);
      },
      {"x"}, "images");
  run_shapes(*gm, 500, [](int i) {
    return random_tensor({1, 3, 24 + i % 40, 24 + i / 40});
  });
}

TEST(Child, DISABLED_ManyLengths) {
  const Tensor up = random_tensor({256, 64}), down = random_tensor({64, 256});
  const auto gm = fx::symbolic_trace(
      [&](Value x) {
        for (int layer = 0; layer < 3; ++layer) {
          const Value heads =
              transpose(unflatten(x, 2, Value::tuple({4, 16})), 1, 2);
          const Value mixed =
              F::scaled_dot_product_attention(heads, heads, heads);
          x = x + flatten(transpose(mixed, 1, 2), 2);
          x = x + F::linear(F::gelu(F::linear(x, up)), down);
        }
        return softmax(x, -1);
      },
      {"x"}, "lengths");
  run_shapes(*gm, 250, [](int i) { return random_tensor({1, 3 + i, 64}); });
}

// 10,000 tuples of sizes, all of one kind.
TEST(Child, DISABLED_TenThousandTuples) {
  constexpr size_t kLargeCap = 64 * kMega;
  const Tensor weight = random_tensor({32, 32});
  const auto gm = fx::symbolic_trace(
      [&](Value x) { return softmax(F::gelu(F::linear(x, weight)), -1); },
      {"x"}, "tuples");
  CompileOptions options = quick();
  options.memory_cap = kLargeCap;
  options.sizes = {{NamedSize{"batch"}, NamedSize{"length"}}};
  const size_t before = memory_used();
  compile(*gm, options);
  for (int64_t i = 0; i < 10000; ++i)
    gm->forward(ValueList{Tensor::zeros({2 + i % 100, 2 + i / 100, 32})});
  EXPECT_LE(compiled_size(*gm).bytes, kLargeCap);
  const size_t used = memory_used() - before;
  EXPECT_LT(used / kMega, (kLargeCap + kLargeCap / 5 + 40 * kMega) / kMega);
  EXPECT_EQ(make_report(*gm).kinds.size(), 1U);
}

TEST(ManyShapes, WeightsAreNoProgramsMemory) {
  const Tensor table = random_tensor({4096, 64});  // 1 MiB.
  const auto gm = fx::symbolic_trace(
      [&](Value ids) { return F::embedding(ids, table) * 2; }, {"ids"},
      "weights");
  compile(*gm, quick());
  for (int64_t length = 2; length < 6; ++length)
    gm->forward(ValueList{Tensor::zeros({length}, DType::i64)});
  EXPECT_LT(compiled_size(*gm).bytes, table.storage()->bytes());
}

TEST(ManyShapes, MemoryStaysWithinTheCap) {
  if (testing::kSanitizer) GTEST_SKIP() << testing::kFreedIsKept;
  for (const char* child :
       {"ManySizesOfImages", "ManyLengths", "TenThousandTuples"}) {
    const auto result = run_child(child);
    EXPECT_EQ(result.exit_code, 0) << result.output;
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
