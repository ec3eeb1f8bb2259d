// Without executable memory oneDNN is not called for anything new; plain loops
// answer. The right is given up in a child process, for it cannot be taken
// back.
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "fxjit/log.h"
#include "kernels/kernels.h"
#include "kernels/onednn/eager.h"
#include "src/ops/eager/matmul.h"
#include "src/ops/table/layouts.h"
#include "src/support/memory/executable_memory.h"
#include "tests/kernels/conv_cases.h"
#include "tests/kernels/kernel_test_util.h"

#ifndef PR_SET_MDWE  // Since Linux 6.3; Debian 12's headers are older.
#define PR_SET_MDWE 65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

namespace fxjit::kernels::testing {
namespace TEST_FILE {

constexpr int kGood = 0, kWrong = 1, kNoSuchSetting = 2;

// The exit code of `work` in a child that may not make code; what a signal
// ended is 128 + its number.
int run_denied(const std::function<bool()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    if (prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) != 0)
      _exit(kNoSuchSetting);
    set_log_callback([](LogLevel, std::string_view) {});
    _exit(work() ? kGood : kWrong);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#define EXPECT_GOOD_WHEN_DENIED(...)                                \
  do {                                                              \
    if (!support::executable_memory_allowed())                      \
      GTEST_SKIP() << "this host denies executable memory already"; \
    const int result = run_denied(__VA_ARGS__);                     \
    if (result == kNoSuchSetting)                                   \
      GTEST_SKIP() << "the kernel has no PR_SET_MDWE";              \
    EXPECT_EQ(result, kGood);                                       \
  } while (false)

// A product of shapes that nothing else in this program uses.
bool product_is_right(int64_t rows, bool* by_onednn) {
  const Tensor a = random_tensor({1, rows, 83}), b = random_tensor({1, 83, 89});
  const Tensor c = Tensor::empty({1, rows, 89});
  ops::MatmulArgs args;
  args.rows = rows, args.depth = 83, args.columns = 89;
  args.a = a.data(), args.b = b.data(), args.c = c.data();
  args.a_row = 83, args.b_depth = 89, args.c_row = 89;
  *by_onednn = onednn::eager_matmul(args);
  ops::run_matmul(args);
  return relative_error(c, product_oracle(a, b, Tensor())) < 1e-6;
}

TEST(Denied, ProductsAreDonePlainly) {
  EXPECT_GOOD_WHEN_DENIED([] {
    bool by_onednn = true;
    return product_is_right(141, &by_onednn) && !by_onednn;
  });
}

TEST(Denied, WhatWasMadeBeforeStillRuns) {
  bool by_onednn = false;
  ASSERT_TRUE(product_is_right(147, &by_onednn));
  ASSERT_TRUE(by_onednn);
  EXPECT_GOOD_WHEN_DENIED([] {
    bool again = false;
    return product_is_right(147, &again) && again;
  });
}

TEST(Denied, ConvolutionsAreDonePlainly) {
  EXPECT_GOOD_WHEN_DENIED([] {
    bool good = true;
    for (const ConvCase& c : kConvCases) {
      if (c.input.size() != c.weight.size()) continue;
      Dims input = c.input;
      input[input.size() - 1] += 1;  // Not made by other tests.
      const Tensor x = random_tensor(input), w = random_tensor(c.weight);
      const Tensor bias = random_tensor({c.output_channels()});
      const ops::Op& op = ops::get_op("convolution");
      const ValueList args = bound_args("convolution", c.args(x, w, bias));
      const ops::ConvParams params = ops::conv_params({op, args});
      const Tensor out = Tensor::empty(params.output);
      ops::run_conv(params, x, w, bias, out);
      good = good &&
             relative_error(out, conv_oracle(params, x, w, bias)) < 1e-5 &&
             !make_call_code({op,
                              args,
                              {Tensor(), w, bias},
                              {Tensor::meta(params.output, DType::f32)}},
                             kSliceThreads);
    }
    return good;
  });
}

}  // namespace TEST_FILE
}  // namespace fxjit::kernels::testing
