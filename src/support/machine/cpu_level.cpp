#include "fxjit/cpu_level.h"

namespace fxjit {
namespace {

constexpr CpuLevel kLevels[] = {CpuLevel::sse41, CpuLevel::avx2,
                                CpuLevel::avx512};
constexpr std::string_view kNames[] = {"sse41", "avx2", "avx512"};

}  // namespace

bool host_supports(CpuLevel level) {
  __builtin_cpu_init();
  switch (level) {
    case CpuLevel::sse41:
      return __builtin_cpu_supports("sse4.1") &&
             __builtin_cpu_supports("sse4.2") &&
             __builtin_cpu_supports("popcnt");
    case CpuLevel::avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
             __builtin_cpu_supports("f16c") && __builtin_cpu_supports("bmi") &&
             __builtin_cpu_supports("bmi2") &&
             __builtin_cpu_supports("lzcnt") && __builtin_cpu_supports("movbe");
    case CpuLevel::avx512:
      return host_supports(CpuLevel::avx2) &&
             __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512cd") &&
             __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512vl");
  }
  return false;
}

CpuLevel host_cpu_level() {
  CpuLevel best = CpuLevel::sse41;
  for (CpuLevel level : kLevels) {
    if (host_supports(level)) best = level;
  }
  return best;
}

std::string_view cpu_level_name(CpuLevel level) {
  return kNames[static_cast<size_t>(level)];
}

std::optional<CpuLevel> parse_cpu_level(std::string_view text) {
  for (CpuLevel level : kLevels) {
    if (text == cpu_level_name(level)) return level;
  }
  return std::nullopt;
}

}  // namespace fxjit
