// Compiled modules and their process: environment variables, the disk cache,
// exits while compiling, limits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <new>
#include <thread>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/report.h"
#include "tests/compile/compile_testing.h"
#include "tests/compile/subprocess.h"
#include "tests/support/sanitizers.h"
#include "tests/support/thread_pool_testing.h"

namespace fxjit {
namespace TEST_FILE {

namespace F = nn::functional;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::options_for;
using testing::ProcessResult;
using testing::random_tensor;
using testing::run_child;
using testing::TemporaryFolder;
using testing::value_difference;
using testing::WarningLog;

nn::Ref<fx::GraphModule> model(int64_t width = 6) {
  return fx::symbolic_trace(
      [w = random_tensor({8, width})](Value x) {
        return softmax(F::gelu(F::linear(x, w)) * 2, -1);
      },
      {"x"}, "f");
}

void expect_right(fx::GraphModule& gm, const ValueList& inputs) {
  EXPECT_EQ(
      value_difference(gm.forward(inputs), gm.interpret(inputs), 1e-5, 1e-6),
      "");
}

#define EXPECT_CHILD_OK(result) \
  EXPECT_EQ((result).exit_code, 0) << (result).output

// --- Environment. ---

TEST(Child, DISABLED_Report) {
  WarningLog log;
  const auto gm = model();
  compile(*gm, options_for(host_cpu_level()));
  const ValueList inputs{random_tensor({5, 6})};
  std::cout << "prepared: " << prepare(*gm, inputs) << "\n";
  expect_right(*gm, inputs);
  std::cout << "native: " << (gm->native_forward() != nullptr) << "\n"
            << report(*gm);
  for (const std::string& message : log.messages())
    std::cout << "warning: " << message << "\n";
}

TEST(Environment, BackendInterpreter) {
  const ProcessResult result =
      run_child("Report", {{"FXJIT_BACKEND", "interpreter"}});
  EXPECT_CHILD_OK(result);
  EXPECT_THAT(result.output, HasSubstr("prepared: 0"));
  EXPECT_THAT(result.output, HasSubstr("native: 0"));
}

TEST(Environment, BackendJit) {
  const ProcessResult result = run_child("Report", {{"FXJIT_BACKEND", "jit"}});
  EXPECT_CHILD_OK(result);
  EXPECT_THAT(result.output, HasSubstr("native: 1"));
  EXPECT_THAT(result.output, Not(HasSubstr("warning: ")));
}

TEST(Environment, BackendUnknown) {
  const ProcessResult result = run_child("Report", {{"FXJIT_BACKEND", "gpu"}});
  EXPECT_CHILD_OK(result);
  EXPECT_THAT(result.output, HasSubstr("warning: FXJIT_BACKEND=gpu"));
}

TEST(Environment, DisabledPasses) {
  const ProcessResult fused = run_child("Report");
  EXPECT_THAT(fused.output, HasSubstr("matmul+gelu+mul"));
  const ProcessResult apart = run_child("Report", {{"FXJIT_DISABLE", "fuse"}});
  EXPECT_CHILD_OK(apart);
  EXPECT_THAT(apart.output, Not(HasSubstr("matmul+")));
  EXPECT_THAT(apart.output, HasSubstr("softmax"));
}

TEST(Environment, DisabledPassesUnknown) {
  const ProcessResult result =
      run_child("Report", {{"FXJIT_DISABLE", "fuse,no_such_pass"}});
  EXPECT_CHILD_OK(result);
  EXPECT_THAT(result.output,
              HasSubstr("FXJIT_DISABLE: no pass is named no_such_pass"));
}

TEST(Environment, Dump) {
  const TemporaryFolder folder;
  const ProcessResult result =
      run_child("Report", {{"FXJIT_DUMP", folder.path() + "/new"}});
  EXPECT_CHILD_OK(result);
  std::string names;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(folder.path()))
    names += entry.path().filename().string() + "\n";
  for (const char* part : {"normalize", "lower", "fuse", "program", ".ll", ".s"})
    EXPECT_THAT(names, HasSubstr(part));
}

TEST(Environment, DumpToNowhere) {
  const ProcessResult result =
      run_child("Report", {{"FXJIT_DUMP", "/proc/no/such/folder"}});
  EXPECT_CHILD_OK(result);
  EXPECT_THAT(result.output, HasSubstr("native: 1"));
  const std::string warning = "warning: [dump] cannot write";
  EXPECT_THAT(result.output, HasSubstr(warning));
  EXPECT_EQ(result.output.find(warning), result.output.rfind(warning));
}

TEST(Child, DISABLED_Prepare) {
  const auto gm = model();
  compile(*gm, options_for(host_cpu_level()));
  prepare(*gm, ValueList{random_tensor({5, 6})});
}

TEST(Environment, DebugLevels) {
  const auto said = [](const char* level) {
    return run_child("Prepare", {{"FXJIT_DEBUG", level}}).output;
  };
  const char* const kProgram = "fxjit info: [compile] inputs: float32[5, 6]";
  EXPECT_THAT(said("0"), Not(HasSubstr("fxjit info")));
  EXPECT_THAT(said("1"), HasSubstr(kProgram));
  EXPECT_THAT(said("1"), Not(HasSubstr("matmul+gelu")));
  EXPECT_THAT(said("2"), HasSubstr(kProgram));
  EXPECT_THAT(said("2"), HasSubstr("matmul+gelu"));
  for (const char* other : {"much", "3"})
    EXPECT_THAT(said(other),
                AllOf(HasSubstr(other + std::string(": expected 0, 1 or 2")),
                      Not(HasSubstr("fxjit info"))));
}

// --- Disk cache. ---

TEST(Child, DISABLED_Cached) {
  const auto gm = model();
  CompileOptions options = options_for(host_cpu_level());
  options.cache_folder = std::getenv("FXJIT_TEST_FOLDER");
  compile(*gm, options);
  const ValueList inputs{random_tensor({5, 6})};
  expect_right(*gm, inputs);
  std::cout << "from disk: " << profile(*gm, inputs, 1).from_disk_cache << "\n";
}

TEST(DiskCache, ServesTheNextProcess) {
  const TemporaryFolder folder;
  const std::vector<std::pair<std::string, std::string>> environment{
      {"FXJIT_TEST_FOLDER", folder.path()}};
  const ProcessResult first = run_child("Cached", environment);
  EXPECT_CHILD_OK(first);
  EXPECT_THAT(first.output, HasSubstr("from disk: 0"));
  const ProcessResult second = run_child("Cached", environment);
  EXPECT_CHILD_OK(second);
  EXPECT_THAT(second.output, HasSubstr("from disk: 1"));
}

TEST(DiskCache, DamagedEntriesAreCompiledAnew) {
  const TemporaryFolder folder;
  const std::vector<std::pair<std::string, std::string>> environment{
      {"FXJIT_TEST_FOLDER", folder.path()}};
  EXPECT_CHILD_OK(run_child("Cached", environment));
  int files = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(folder.path())) {
    if (!entry.is_regular_file() || entry.file_size() < 100) continue;
    std::fstream file(entry.path(),
                      std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(entry.file_size() / 2));
    file.write("damaged", 7);
    ++files;
  }
  EXPECT_GT(files, 0);
  const ProcessResult again = run_child("Cached", environment);
  EXPECT_CHILD_OK(again);
  EXPECT_THAT(again.output, HasSubstr("from disk: 0"));
}

TEST(DiskCache, FolderThatCannotBeWritten) {
  const ProcessResult result =
      run_child("Cached", {{"FXJIT_TEST_FOLDER", "/proc/no/such/folder"}});
  EXPECT_CHILD_OK(result);
  EXPECT_THAT(result.output, HasSubstr("from disk: 0"));
  EXPECT_THAT(result.output, HasSubstr("compiled code is not kept on disk"));
}

// --- Exits. ---

TEST(Child, DISABLED_ExitWhileCompiling) {
  CompileOptions options = options_for(host_cpu_level(), 2);
  options.new_shape = CompileOptions::NewShape::behind;
  // Still there while static objects go.
  static std::vector<nn::Ref<fx::GraphModule>> modules;
  for (int64_t width = 5; width < 12; ++width) {
    modules.push_back(model(width));
    compile(*modules.back(), options);
    for (int64_t rows = 1; rows < 4; ++rows)
      expect_right(*modules.back(), {random_tensor({rows, width})});
  }
  const int64_t done = std::atoll(std::getenv("FXJIT_TEST_DONE"));
  // Exit once this many have been compiled, in the middle of the next.
  while (done > 0 && modules[static_cast<size_t>(done - 1)]->report().empty()) {
  }
  std::exit(0);
}

TEST(Exit, WhileCompiling) {
  for (const char* done : {"0", "1", "2", "5"}) {
    const ProcessResult result =
        run_child("ExitWhileCompiling", {{"FXJIT_TEST_DONE", done}});
    EXPECT_CHILD_OK(result);
  }
}

// --- Forks, and systems that give no threads. ---

// A thread that begins under g++ 12's AddressSanitizer takes a lock of its
// allocator, which no child forked in that moment gets back: they begin before.
void let_threads_begin(const fx::GraphModule& gm) {
  if (!testing::kAddressSanitizer) return;
  while (report(gm).empty()) std::this_thread::yield();
  support::ThreadPool& pool = support::ThreadPool::shared();
  if (pool.size() > 1) support::run_until_worker_joined(pool, [] {});
}

TEST(Child, DISABLED_Fork) {
  CompileOptions options = options_for(host_cpu_level(), 2);
  options.new_shape = CompileOptions::NewShape::behind;
  const auto gm = model();
  compile(*gm, options);
  for (int64_t rows = 1; rows < 9; ++rows)
    expect_right(*gm, {random_tensor({rows, 6})});
  let_threads_begin(*gm);
  // In the middle of what is compiled behind, or after it.
  while (std::getenv("FXJIT_TEST_DONE") &&
         report(*gm).find("float32[8, 6]") == std::string::npos) {
  }
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);
    // What waited in the parent is compiled here, and what is new.
    while (report(*gm).find("float32[8, 6]") == std::string::npos ||
           report(*gm).find("float32[9, 6]") == std::string::npos)
      for (int64_t rows = 1; rows < 10; ++rows)
        expect_right(*gm, {random_tensor({rows, 6})});
    std::exit(::testing::Test::HasFailure() ? 1 : 23);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 23);
}

TEST(Fork, WhileCompiling) {
  if (testing::kThreadSanitizer) GTEST_SKIP() << testing::kNoThreadsAfterFork;
  EXPECT_CHILD_OK(run_child("Fork"));
}

TEST(Fork, AfterCompiling) {
  if (testing::kThreadSanitizer) GTEST_SKIP() << testing::kNoThreadsAfterFork;
  EXPECT_CHILD_OK(run_child("Fork", {{"FXJIT_TEST_DONE", "1"}}));
}

TEST(Child, DISABLED_NoThreads) {
  constexpr uid_t kNobody = 65534;
  const rlimit none{0, 0};
  if (setrlimit(RLIMIT_NPROC, &none) != 0 ||
      (geteuid() == 0 && setuid(kNobody) != 0))
    GTEST_SKIP() << "no such limit here";
  WarningLog log;
  const auto gm = model();
  CompileOptions options = options_for(host_cpu_level(), 4);
  options.new_shape = CompileOptions::NewShape::behind;
  compile(*gm, options);
  for (int i = 0; i < 3; ++i) expect_right(*gm, {random_tensor({5, 6})});
  EXPECT_EQ(log.count("no thread to compile behind calls"), 1);
  options.new_shape = CompileOptions::NewShape::wait;
  compile(*gm, options);
  expect_right(*gm, {random_tensor({5, 6})});
  EXPECT_THAT(gm->report(), HasSubstr("generated"));
}

TEST(Limits, NoThreads) {
  if (testing::kSanitizer)
    GTEST_SKIP() << "sanitizers' runtimes begin threads themselves";
  const ProcessResult result = run_child("NoThreads");
  EXPECT_CHILD_OK(result);
  if (result.output.find("no such limit") != std::string::npos)
    GTEST_SKIP() << "this host does not let a process limit its threads";
}

// Memory may end in the middle of a compilation: on the thread that this op
// says.
std::atomic<std::thread::id> with_memory;

Scalar hungry(ScalarBuilder&, const ops::OpCall&, std::span<const Scalar> in) {
  if (with_memory.load() != std::this_thread::get_id()) throw std::bad_alloc();
  return in[0] * in[0];
}

TEST(Child, DISABLED_NoMemory) {
  static constexpr ops::OpRow kHungry[] = {{.name = "test_hungry",
                                            .schema = "input",
                                            .names = "mine.hungry",
                                            .lowering = ops::Lowering::scalar,
                                            .scalar = hungry}};
  ops::register_ops(kHungry);
  with_memory = std::this_thread::get_id();
  const auto gm = fx::symbolic_trace(
      [](Value x) { return function("mine.hungry", {x}) + 1; }, {"x"}, "f");
  const WarningLog log;
  CompileOptions options = options_for(host_cpu_level());
  options.new_shape = CompileOptions::NewShape::behind;
  compile(*gm, options);
  while (report(*gm).empty()) expect_right(*gm, testing::batch(3));
  EXPECT_THAT(report(*gm), HasSubstr("interpreter: no memory to compile it"));
  expect_right(*gm, testing::batch(3));
  EXPECT_EQ(log.count("no memory to compile it"), 1);
  with_memory = std::thread::id();
  options.new_shape = CompileOptions::NewShape::wait;
  compile(*gm, options);
  EXPECT_FALSE(prepare(*gm, testing::batch(4)));
}

TEST(Limits, NoMemory) { EXPECT_CHILD_OK(run_child("NoMemory")); }

TEST(Child, DISABLED_SmallFiles) {
  const rlimit limit{512, 512};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  const auto gm = model();
  CompileOptions options = options_for(host_cpu_level());
  options.cache_folder = std::getenv("FXJIT_TEST_FOLDER");
  compile(*gm, options);
  expect_right(*gm, {random_tensor({5, 6})});
  EXPECT_TRUE(std::filesystem::is_empty(*options.cache_folder));
}

TEST(Limits, SmallFiles) {
  const TemporaryFolder folder;
  EXPECT_CHILD_OK(
      run_child("SmallFiles", {{"FXJIT_TEST_FOLDER", folder.path()}}));
}

}  // namespace TEST_FILE
}  // namespace fxjit
