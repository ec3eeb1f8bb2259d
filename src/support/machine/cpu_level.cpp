#include "fxjit/cpu_level.h"

namespace fxjit {
namespace {

constexpr CpuLevel kLevels[] = {CpuLevel::sse41, CpuLevel::avx2,
                                CpuLevel::avx512};

bool has_avx2_level() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("f16c") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("lzcnt") &&
         __builtin_cpu_supports("movbe");
}

bool has_avx512_level() {
  return has_avx2_level() && __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") &&
         __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}

}  // namespace

bool host_supports(CpuLevel level) {
  __builtin_cpu_init();
  switch (level) {
    case CpuLevel::sse41:
      return __builtin_cpu_supports("sse4.1") &&
             __builtin_cpu_supports("sse4.2") &&
             __builtin_cpu_supports("popcnt");
    case CpuLevel::avx2:
      return has_avx2_level();
    case CpuLevel::avx512:
      return has_avx512_level();
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
  switch (level) {
    case CpuLevel::sse41:
      return "sse41";
    case CpuLevel::avx2:
      return "avx2";
    case CpuLevel::avx512:
      return "avx512";
  }
  return "";
}

std::optional<CpuLevel> parse_cpu_level(std::string_view text) {
  for (CpuLevel level : kLevels) {
    if (text == cpu_level_name(level)) return level;
  }
  return std::nullopt;
}

}  // namespace fxjit
