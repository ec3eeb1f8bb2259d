// A process may end while threads run models, compile them, or have them
// compiled behind their calls.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "tests/compile/compile_testing.h"
#include "tests/compile/process_models.h"
#include "tests/compile/subprocess.h"
#include "tests/support/sanitizers.h"

namespace fxjit {
namespace TEST_FILE {

using testing::options_for;
using testing::process_models;
using testing::ProcessModel;
using testing::run_child;

constexpr int kExitCode = 7;

void compile_all(const std::vector<ProcessModel>& models,
                 CompileOptions::NewShape new_shape, int threads = 1) {
  CompileOptions options = options_for(host_cpu_level(), threads);
  options.new_shape = new_shape;
  for (const ProcessModel& model : models) compile(*model.module, options);
}

// Threads that go on while the process ends. What they use is never destroyed.
void keep_running(int number, const std::vector<ProcessModel>& models) {
  std::thread([number, &models] {
    for (int i = number;; ++i) {
      if (number == 2)  // Further primitives, kernels and parts.
        compile_all(process_models(i), CompileOptions::NewShape::wait);
      const auto& model = models[static_cast<size_t>(i) % models.size()];
      number == 1 ? model.module->interpret(model.inputs)
                  : model.module->forward(model.inputs);
    }
  }).detach();
}

[[noreturn]] void run_and_exit(int turn,
                               const std::vector<ProcessModel>& models) {
  for (int number = 0; number < 3; ++number) keep_running(number, models);
  std::mt19937 random(static_cast<uint32_t>(turn));
  std::this_thread::sleep_for(std::chrono::microseconds(random() % 20000));
  std::exit(kExitCode);
}

TEST(Child, DISABLED_ExitWhileRunning) {
  // Never destroyed, and quiet: of what is interpreted.
  static auto* const log = new testing::WarningLog;
  static_cast<void>(log);
  static const auto* const models =
      new std::vector<ProcessModel>(process_models());
  if (std::getenv("FXJIT_TEST_TURN")) {  // One process of its own.
    compile_all(*models, CompileOptions::NewShape::behind, 2);
    run_and_exit(std::atoi(std::getenv("FXJIT_TEST_TURN")), *models);
  }
  compile_all(*models, CompileOptions::NewShape::wait);
  for (const ProcessModel& model : *models) {
    model.module->forward(model.inputs);
    model.module->interpret(model.inputs);
  }
  const int exits = std::atoi(std::getenv("FXJIT_TEST_EXITS"));
  for (int turn = 0; turn < exits; ++turn) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(120);
      run_and_exit(turn, *models);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status))
        << "exit " << turn << ": signal " << WTERMSIG(status);
    ASSERT_EQ(WEXITSTATUS(status), kExitCode);
  }
}

TEST(Exit, WhileThreadsRun) {
  if (testing::kThreadSanitizer) GTEST_SKIP() << testing::kNoThreadsAfterFork;
  const char* const exits = std::getenv("FXJIT_EXITS");
  const auto result = run_child("ExitWhileRunning",
                                {{"FXJIT_TEST_EXITS", exits ? exits : "200"}});
  EXPECT_EQ(result.exit_code, 0) << result.output;
}

TEST(Exit, WhileThreadsRunWithThePool) {
  for (int turn = 0; turn < 10; ++turn) {
    const auto result = run_child("ExitWhileRunning",
                                  {{"FXJIT_TEST_TURN", std::to_string(turn)}});
    ASSERT_EQ(result.exit_code, kExitCode) << result.output;
  }
}

Value chain(Value x) {
  for (int i = 0; i < 12; ++i)
    x = softmax(nn::functional::gelu(x) * 0.5 + tanh(x), -1);
  return x;
}

// Calls with several shapes not seen before, then ends at once.
[[noreturn]] void call_and_exit() {
  auto gm = fx::symbolic_trace(chain, {"x"}, "chain");
  CompileOptions options;
  options.threads = 1;
  options.cache_folder = "";
  options.new_shape = CompileOptions::NewShape::behind;
  compile(*gm, options);
  for (int64_t rows = 1; rows < 5; ++rows) {
    gm(Tensor::full({rows, 33}, 0.25, DType::f32));
  }
  std::exit(kExitCode);
}

TEST(ExitDeathTest, WhileAShapeIsCompiled) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (int i = 0; i < 5; ++i) {
    EXPECT_EXIT(call_and_exit(), ::testing::ExitedWithCode(kExitCode), "");
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
