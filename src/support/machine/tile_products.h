// Whether this process may multiply 8-bit integers in tile registers (AMX
// int8), which no level has: like dot products they stand beside the levels.
#pragma once

#include <functional>

#include "fxjit/cpu_level.h"

namespace fxjit::support {

// What the CPU and the system say of tiles.
struct TileFacts {
  bool has_registers = false;  // AMX-TILE
  bool has_bytes = false;      // AMX-INT8
  bool state_is_saved = false;  // When the system changes threads.

  static TileFacts of_host();
};

// Whether tiles may be used, by these facts and what `ask` answers. The system
// keeps no room for the state of tiles before it is asked, so that it is asked
// only where everything else is there.
bool may_use_tiles(const TileFacts& facts, const std::function<bool()>& ask);

// The answer for this process. The system is asked by the first call that gets
// so far; a refusal is an answer as well.
bool host_has_tile_products(CpuLevel level);

}  // namespace fxjit::support
