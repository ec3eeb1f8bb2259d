#include "src/support/machine/tile_products.h"

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "src/support/machine/dot_products.h"

namespace fxjit::support {
namespace {

// Of XCR0, the states that the system saves: configuration and data of tiles.
constexpr uint32_t kTileStates = 1u << 17 | 1u << 18;

uint32_t saved_states() {
  uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

// Refused as well where a thread's stack for signals could not hold the state.
bool ask_for_tiles() {
  constexpr int kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr int kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

}  // namespace

TileFacts TileFacts::of_host() {
  constexpr uint32_t kReadsStates = 1u << 27;  // OSXSAVE
  constexpr uint32_t kTile = 1u << 24, kInt8 = 1u << 25;
  TileFacts facts;
  uint32_t a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || (c & kReadsStates) == 0) return facts;
  facts.state_is_saved = (saved_states() & kTileStates) == kTileStates;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return facts;
  facts.has_registers = (d & kTile) != 0;
  facts.has_bytes = (d & kInt8) != 0;
  return facts;
}

bool may_use_tiles(const TileFacts& facts, const std::function<bool()>& ask) {
  return facts.has_registers && facts.has_bytes && facts.state_is_saved &&
         ask();
}

// Single rows are dot products of the same packed weights.
bool host_has_tile_products(CpuLevel level) {
  if (level != CpuLevel::avx512 || !host_has_dot_products(level)) return false;
  static const bool may = may_use_tiles(TileFacts::of_host(), ask_for_tiles);
  return may;
}

}  // namespace fxjit::support
