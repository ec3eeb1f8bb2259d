#include "tests/ops/isolated.h"
#include "tests/support/sanitizers.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <new>

namespace fxjit::testing {
namespace {

constexpr unsigned kSeconds = 10;
constexpr rlim_t kBytes = rlim_t{1} << 30;
constexpr size_t kMostText = 2000;

// What parent and child share.
struct Progress {
  size_t next = 0;  // The case that runs.
  bool failed = false;
  char text[kMostText] = {};
};

// Sanitizers reserve more addresses than any limit would leave.
void limit_memory() {
  if (testing::kSanitizer) return;
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t most =
      pages * static_cast<size_t>(sysconf(_SC_PAGESIZE)) + kBytes;
  const rlimit limit{most, most};
  setrlimit(RLIMIT_AS, &limit);
}

[[noreturn]] void run_child(Progress& progress, size_t count,
                            const std::function<std::string(size_t)>& run) {
  limit_memory();
  for (; progress.next < count; ++progress.next) {
    alarm(kSeconds);
    const std::string text = run(progress.next);
    if (text.empty()) continue;
    std::strncpy(progress.text, text.c_str(), kMostText - 1);
    progress.failed = true;
    ++progress.next;
    break;
  }
  _exit(0);
}

// Sanitizers end a process by its exit status.
std::string end_of(int status) {
  return WIFSIGNALED(status)
             ? " ended by signal " + std::to_string(WTERMSIG(status))
             : " ended with status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

std::vector<std::string> run_isolated(
    size_t count, const std::function<std::string(size_t)>& run) {
  void* const shared = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return {"no memory to share"};
  auto& progress = *new (shared) Progress;
  std::vector<std::string> failures;
  while (progress.next < count) {
    progress.failed = false;
    const pid_t child = fork();
    if (child == 0) run_child(progress, count, run);
    int status = 0;
    waitpid(child, &status, 0);
    if (progress.failed)
      failures.push_back(progress.text);
    else if (WIFSIGNALED(status) || WEXITSTATUS(status) != 0)
      failures.push_back("case " + std::to_string(progress.next++) +
                         end_of(status));
  }
  munmap(shared, sizeof(Progress));
  return failures;
}

}  // namespace fxjit::testing
