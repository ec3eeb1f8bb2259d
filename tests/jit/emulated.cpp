#include "tests/jit/emulated.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "tests/support/host_levels.h"

namespace fxjit::jit::testing {
namespace {

constexpr const char* kPython = FXJIT_SOURCE_DIR "/build/emulator/bin/python";
constexpr const char* kScript = FXJIT_SOURCE_DIR "/tests/jit/emulator.py";

struct Pipe {
  int out = -1, in = -1;

  Pipe() {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("pipe");
    out = ends[0], in = ends[1];
  }
};

// Whether a child may read and write this process's memory, as the emulator
// does: 0, or the number of the error.
int memory_refused() {
  const Pipe begin;
  const pid_t child = fork();
  if (child < 0) return errno;
  if (child == 0) {
    char byte = 0;
    std::array<char, 32> name{};
    std::snprintf(name.data(), name.size(), "/proc/%d/mem", getppid());
    if (read(begin.out, &byte, 1) != 1) _exit(EPIPE);
    const int memory = open(name.data(), O_RDWR);
    const auto at = reinterpret_cast<off_t>(&child);
    _exit(memory >= 0 && pread(memory, &byte, 1, at) == 1 ? 0 : errno);
  }
  prctl(PR_SET_PTRACER, child);
  int status = 0;
  const bool begun = write(begin.in, "", 1) == 1;
  const bool ended = waitpid(child, &status, 0) == child;
  close(begin.in), close(begin.out);
  return begun && ended && WIFEXITED(status) ? WEXITSTATUS(status) : ECHILD;
}

std::string find_absence() {
  constexpr std::string_view kNames = FXJIT_EMULATOR_NAMES;
  std::error_code unknown;
  if (kNames.empty() || !std::filesystem::exists(kPython, unknown))
    return "there is no build/emulator, which scripts/setup makes";
  if (const int error = memory_refused())
    return std::string("the system does not let the emulator have the memory "
                       "of a test: ") +
           std::strerror(error);
  return "";
}

// The process of the emulator, which ends with its input. Where it ends before,
// the next call says so; its own words are on the standard error.
class Process {
 public:
  Process() : stack_(make_stack()) {
    std::signal(SIGPIPE, SIG_IGN);
    const Pipe to, from;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to.out, 0);
    posix_spawn_file_actions_adddup2(&actions, from.in, 1);
    for (const int end : {to.out, to.in, from.out, from.in})
      posix_spawn_file_actions_addclose(&actions, end);
    std::string names = "LD_PRELOAD=" FXJIT_EMULATOR_NAMES;
    char* const arguments[] = {const_cast<char*>(kPython),
                               const_cast<char*>("-B"),
                               const_cast<char*>(kScript), nullptr};
    char* const environment[] = {names.data(), nullptr};
    pid_t child = 0;
    const int error =
        posix_spawn(&child, kPython, &actions, nullptr, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    close(to.out);
    close(from.in);
    if (error != 0) throw std::runtime_error("the emulator does not start");
    prctl(PR_SET_PTRACER, child);  // It reads and writes this one's memory.
    in_ = fdopen(to.in, "w");
    out_ = fdopen(from.out, "r");
  }

  void call(const void* function, std::span<const uint64_t> arguments) {
    fprintf(in_, "%p %p", function, static_cast<void*>(stack_ + kStack));
    for (const uint64_t each : arguments)
      fprintf(in_, " %llx", static_cast<unsigned long long>(each));
    fprintf(in_, "\n");
    fflush(in_);
    char line[256] = "the emulator has ended";
    if (!fgets(line, sizeof line, out_) || line != std::string("done\n"))
      throw std::runtime_error(line);
  }

 private:
  static constexpr size_t kStack = 1 << 20;

  static std::byte* make_stack() {
    void* const memory = mmap(nullptr, kStack, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("mmap");
    return static_cast<std::byte*>(memory);
  }

  std::byte* stack_;
  FILE *in_ = nullptr, *out_ = nullptr;
};

}  // namespace

const std::string& emulator_absence() {
  static const std::string absence = find_absence();
  return absence;
}

std::vector<CpuLevel> emulated_levels() {
  std::vector<CpuLevel> levels;
  for (const CpuLevel level : support::kCpuLevels)
    if (has_emulator() && !host_supports(level)) levels.push_back(level);
  return levels;
}

void run_emulated(const void* function, std::span<const uint64_t> arguments) {
  static auto* const process = new Process;
  process->call(function, arguments);
}

}  // namespace fxjit::jit::testing
