// Compiled modules in a process that may not make memory executable.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>

#include <iostream>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/report.h"
#include "tests/compile/compile_testing.h"
#include "tests/compile/subprocess.h"

namespace fxjit {
namespace TEST_FILE {

namespace F = nn::functional;
using ::testing::HasSubstr;
using testing::options_for;
using testing::ProcessResult;
using testing::random_tensor;
using testing::run_child;
using testing::WarningLog;

void expect_right(fx::GraphModule& gm, const ValueList& inputs) {
  EXPECT_EQ(testing::value_difference(gm.forward(inputs), gm.interpret(inputs),
                                      1e-5, 1e-6),
            "");
}

TEST(Child, DISABLED_NoExecutableMemory) {
  constexpr int kSetMdwe = 65, kRefuseExecGain = 1;
  if (prctl(kSetMdwe, kRefuseExecGain, 0, 0, 0) != 0)
    GTEST_SKIP() << "no such limit here";
  WarningLog log;
  const auto gm = fx::symbolic_trace(
      [w = random_tensor({8, 6})](Value x) {
        return softmax(F::gelu(F::linear(x, w)) * 2, -1);
      },
      {"x"}, "f");
  compile(*gm, options_for(host_cpu_level()));
  const ValueList inputs{random_tensor({5, 6})};
  for (int i = 0; i < 3; ++i) expect_right(*gm, inputs);
  expect_right(*gm, {random_tensor({2, 6})});
  std::cout << "prepared: " << prepare(*gm, inputs) << "\n"
            << report(*gm) << "warnings: " << log.messages().size() << "\n";
  // oneDNN's convolutions would crash.
  const Tensor kernel = random_tensor({4, 3, 3, 3});
  const auto conv = fx::symbolic_trace(
      [&](Value x) { return F::max_pool2d(F::conv2d(x, kernel), 2); }, {"x"},
      "f");
  compile(*conv, options_for(host_cpu_level()));
  expect_right(*conv, {random_tensor({2, 3, 8, 8})});
  std::cout << "done\n";
}

TEST(NoExecutableMemory, InterpreterServes) {
  const ProcessResult result = run_child("NoExecutableMemory");
  EXPECT_EQ(result.exit_code, 0) << result.output;
  if (result.output.find("no such limit") != std::string::npos)
    GTEST_SKIP() << "this kernel has no PR_SET_MDWE";
  EXPECT_THAT(result.output, HasSubstr("prepared: 0"));
  EXPECT_THAT(result.output, HasSubstr("interpreter: "));
  EXPECT_THAT(result.output, HasSubstr("warnings: 1\n"));
  EXPECT_THAT(result.output, HasSubstr("done"));
}

}  // namespace TEST_FILE
}  // namespace fxjit
