// Children of fork() in the middle of anything: tracing, passes, code
// generation, linking, packing, calls, the interpreter, and compilations behind
// calls. Each must be able to do all of these itself.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <iterator>
#include <thread>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/thread_pool.h"
#include "tests/compile/compile_testing.h"
#include "tests/compile/process_models.h"
#include "tests/compile/subprocess.h"
#include "tests/support/sanitizers.h"

namespace fxjit {
namespace TEST_FILE {

using testing::options_for;
using testing::process_models;
using testing::ProcessModel;
using testing::random_tensor;
using testing::run_child;
using testing::WarningLog;

CompileOptions options(CompileOptions::NewShape new_shape) {
  CompileOptions made = options_for(host_cpu_level(), 2);
  made.shipped_kernels = false;  // Everything is generated and linked here.
  made.new_shape = new_shape;
  return made;
}

void expect_right(const ProcessModel& model) {
  EXPECT_EQ(testing::value_difference(model.module->forward(model.inputs),
                                      model.module->interpret(model.inputs),
                                      1e-2, 1e-2),
            "")
      << model.name;
}

// Models made, compiled and called once.
void compile_anew(int variant, CompileOptions::NewShape new_shape) {
  for (const ProcessModel& model : process_models(variant)) {
    compile(*model.module, options(new_shape));
    expect_right(model);
  }
}

class Busy {
 public:
  ~Busy() {
    done_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  // Runs `work` again and again on a thread, each time with another number.
  void add(std::function<void(int)> work) {
    const int first = static_cast<int>(threads_.size()) * 100000;
    threads_.emplace_back([this, first, work = std::move(work)] {
      for (int i = first; !done_; ++i) work(i);
    });
  }

 private:
  std::atomic<bool> done_ = false;
  std::vector<std::thread> threads_;
};

// What a child does, in turn.
void use_everything(int turn, const std::vector<ProcessModel>& models) {
  using NewShape = CompileOptions::NewShape;
  const ProcessModel& model = models[static_cast<size_t>(turn) % models.size()];
  // Most children are quick, so that there are many.
  switch (turn % 16) {
    case 0:
      return compile_anew(900000 + turn, NewShape::wait);
    case 8:
      return compile_anew(900000 + turn, NewShape::behind);
    case 4:
    case 12: {
      const ProcessModel& first = models[0];
      const ValueList rows{random_tensor({1 + turn % 50, 32})};
      EXPECT_TRUE(prepare(*first.module, rows));
      expect_right({first.name, first.module, rows});
      break;
    }
    default:
      break;
  }
  expect_right(model);
  EXPECT_FALSE(report(*model.module).empty());
}

bool child_is_well(int turn, const std::vector<ProcessModel>& models) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(120);
    use_everything(turn, models);
    _exit(::testing::Test::HasFailure() ? 1 : 23);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  return WIFEXITED(status) && WEXITSTATUS(status) == 23;
}

TEST(Child, DISABLED_ForkAnywhere) {
  const WarningLog log;  // Of what is interpreted.
  using NewShape = CompileOptions::NewShape;
  const std::vector<ProcessModel> models = process_models();
  for (const ProcessModel& model : models) {
    compile(*model.module, options(NewShape::wait));
    expect_right(model);
  }
  Busy busy;
  busy.add([](int i) { compile_anew(i, NewShape::wait); });
  busy.add([](int i) { compile_anew(i, NewShape::behind); });
  busy.add([](int i) { process_models(i); });
  busy.add([&](int i) {
    const ProcessModel& model = models[static_cast<size_t>(i) % models.size()];
    i % 3 ? model.module->forward(model.inputs)
          : model.module->interpret(model.inputs);
  });
  const int forks = std::atoi(std::getenv("FXJIT_TEST_FORKS"));
  for (int turn = 0; turn < forks; ++turn)
    ASSERT_TRUE(child_is_well(turn, models)) << "fork " << turn;
}

TEST(Fork, AtAnyMoment) {
  if (testing::kThreadSanitizer) GTEST_SKIP() << testing::kNoThreadsAfterFork;
  if (testing::kAddressSanitizer)
    GTEST_SKIP() << "AddressSanitizer's allocator is not safe in a fork";
  const char* const forks = std::getenv("FXJIT_FORKS");
  const auto result = run_child(
      "ForkAnywhere", {{"FXJIT_TEST_FORKS", forks ? forks : "150"}});
  EXPECT_EQ(result.exit_code, 0) << result.output;
}

int count_threads() {
  const auto tasks = std::filesystem::directory_iterator("/proc/self/task");
  return static_cast<int>(std::distance(begin(tasks), end(tasks)));
}

TEST(Fork, ChildrenCallWithAllThreads) {
  if (testing::kThreadSanitizer) GTEST_SKIP() << testing::kNoThreadsAfterFork;
  const auto model = process_models(31)[0];
  compile(*model.module, options(CompileOptions::NewShape::wait));
  const Value expected = model.module->forward(model.inputs);
  const auto child = [&] {
    const bool alone = count_threads() == 1;
    const Value got = model.module->forward(model.inputs);
    const bool same = testing::value_difference(got, expected, 0, 0).empty();
    return alone && same &&
           count_threads() == support::ThreadPool::shared().size();
  };
  const pid_t pid = fork();
  if (pid == 0) _exit(child() ? 0 : 1);
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace TEST_FILE
}  // namespace fxjit
