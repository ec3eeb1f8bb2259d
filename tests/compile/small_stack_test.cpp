// Calls on threads with the least stack that fxjit.h promises to need. A first
// call compiles, on a stack of its own.
#include <gtest/gtest.h>

#include <functional>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "src/support/threads/own_stack.h"
#include "tests/compile/compile_testing.h"
#include "tests/compile/process_models.h"
#include "tests/support/sanitizers.h"

namespace fxjit {
namespace TEST_FILE {

using testing::options_for;
using testing::process_models;
using testing::ProcessModel;

void on_least_stack(const std::function<void()>& work) {
  const support::StackThread thread(kCallStackBytes, work);
}

constexpr char kLargeFrames[] = "frames are larger under sanitizers";

TEST(SmallStack, CallsCompileAndRun) {
  if (testing::kSanitizer) GTEST_SKIP() << kLargeFrames;
  const testing::WarningLog log;  // Of what is interpreted.
  using NewShape = CompileOptions::NewShape;
  for (const NewShape new_shape : {NewShape::wait, NewShape::behind})
    for (const int threads : {1, 2})
      for (const ProcessModel& model : process_models(1)) {
        SCOPED_TRACE(model.name);
        CompileOptions options = options_for(host_cpu_level(), threads);
        options.shipped_kernels = false;
        options.new_shape = new_shape;
        compile(*model.module, options);
        Value got;
        on_least_stack([&] {
          got = model.module->forward(model.inputs);
          while (report(*model.module).empty()) {
          }
          got = model.module->forward(model.inputs);
        });
        EXPECT_EQ(testing::value_difference(
                      got, model.module->interpret(model.inputs), 1e-2, 1e-2),
                  "");
      }
}

TEST(SmallStack, TheInterpreterRuns) {
  if (testing::kSanitizer) GTEST_SKIP() << kLargeFrames;
  for (const ProcessModel& model : process_models()) {
    SCOPED_TRACE(model.name);
    Value got;
    on_least_stack([&] { got = model.module->interpret(model.inputs); });
    EXPECT_EQ(testing::value_difference(
                  got, model.module->interpret(model.inputs), 0, 0),
              "");
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
