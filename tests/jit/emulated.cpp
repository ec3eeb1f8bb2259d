#include "tests/jit/emulated.h"

#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tests/support/host_levels.h"

namespace fxjit::jit::testing {
namespace {

constexpr const char* kPython = FXJIT_SOURCE_DIR "/build/emulator/bin/python";
constexpr const char* kScript = FXJIT_SOURCE_DIR "/tests/jit/emulator.py";

// The process of the emulator, which ends with its input.
class Process {
 public:
  Process() : stack_(make_stack()) {
    int to[2], from[2];
    if (pipe(to) != 0 || pipe(from) != 0) throw std::runtime_error("pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to[0], 0);
    posix_spawn_file_actions_adddup2(&actions, from[1], 1);
    for (const int end : {to[0], to[1], from[0], from[1]})
      posix_spawn_file_actions_addclose(&actions, end);
    std::string names = "LD_PRELOAD=" FXJIT_EMULATOR_NAMES;
    char* const arguments[] = {const_cast<char*>(kPython),
                               const_cast<char*>(kScript), nullptr};
    char* const environment[] = {names.data(), nullptr};
    pid_t child = 0;
    const int error =
        posix_spawn(&child, kPython, &actions, nullptr, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    close(to[0]);
    close(from[1]);
    if (error != 0) throw std::runtime_error("the emulator does not start");
    prctl(PR_SET_PTRACER, child);  // It reads and writes this one's memory.
    in_ = fdopen(to[1], "w");
    out_ = fdopen(from[0], "r");
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

bool has_emulator() {
  constexpr std::string_view kNames = FXJIT_EMULATOR_NAMES;
  return !kNames.empty() && std::filesystem::exists(kPython);
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
