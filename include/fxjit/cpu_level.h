// The instruction-set levels that generated code comes in. Chosen once per
// compile; a narrower level than the host's can be forced for tests.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fxjit {

// Ordered: a host that has a level has every smaller one.
enum class CpuLevel : uint8_t {
  sse41,   // 4 floats, no fused multiply-add: SSE4.2, POPCNT (x86-64-v2).
  avx2,    // 8 floats: AVX2, FMA, F16C, BMI1/2, LZCNT, MOVBE (x86-64-v3).
  avx512,  // 16 floats: the above with AVX-512 F, BW, CD, DQ, VL (x86-64-v4).
};

// Highest level that this machine and its operating system support. Returns
// sse41 on a machine that has not even that; see host_supports.
CpuLevel host_cpu_level();

// Whether this machine and its operating system have all instructions of the
// level.
bool host_supports(CpuLevel level);

// "sse41", "avx2", "avx512".
std::string_view cpu_level_name(CpuLevel level);

// The inverse of cpu_level_name; nothing for any other text.
std::optional<CpuLevel> parse_cpu_level(std::string_view text);

}  // namespace fxjit
