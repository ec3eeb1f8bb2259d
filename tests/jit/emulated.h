// Kernels on an emulated CPU (emulator.py), for instructions that this machine
// lacks. They read and write the memory of the test as if they ran here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "fxjit/cpu_level.h"

namespace fxjit::jit::testing {

// Why there is no emulator, empty if there is one. Tests of what the machine
// lacks are left out without it.
const std::string& emulator_absence();
inline bool has_emulator() { return emulator_absence().empty(); }

// The levels that it takes the place of, none where this machine has all.
std::vector<CpuLevel> emulated_levels();

// Throws std::runtime_error with what went wrong there, an unknown instruction
// for one.
void run_emulated(const void* function, std::span<const uint64_t> arguments);

// A function that runs another one there.
template <typename... Args>
class Emulated {
 public:
  using Fn = void (*)(Args...);

  static Fn of(Fn function) {
    const size_t at = count_++ % kMost;
    functions_[at] = function;
    return all(std::make_index_sequence<kMost>())[at];
  }

 private:
  static constexpr size_t kMost = 64;  // The first is forgotten then.

  template <typename T>
  static uint64_t word(T argument) {
    if constexpr (std::is_pointer_v<T>)
      return reinterpret_cast<uintptr_t>(argument);
    else
      return static_cast<uint64_t>(argument);
  }

  template <size_t kAt>
  static void run(Args... arguments) {
    const std::array<uint64_t, sizeof...(Args)> words{word(arguments)...};
    run_emulated(reinterpret_cast<const void*>(functions_[kAt]), words);
  }

  template <size_t... kAt>
  static std::array<Fn, kMost> all(std::index_sequence<kAt...>) {
    return {run<kAt>...};
  }

  static inline std::array<Fn, kMost> functions_{};
  static inline size_t count_ = 0;
};

// Whether code of a level takes so long that tests do with less of it: some
// thousand times as long as here.
inline bool is_emulated(CpuLevel level) { return !host_supports(level); }

// Code of a level that this machine may lack.
template <typename... Args>
auto runnable(CpuLevel level, void (*function)(Args...)) {
  return is_emulated(level) ? Emulated<Args...>::of(function) : function;
}

}  // namespace fxjit::jit::testing
