// What a plan depends on besides the model and what the user asks for.
#pragma once

#include <cstdint>

#include "fxjit/cpu_level.h"
#include "src/passes/lowering/fast_halves.h"

namespace fxjit::program {

struct Machine {
  CpuLevel level = CpuLevel::sse41;  // Decides the layout of packed matrices.
  // Size of the second-level cache. If the weights that few rows use do not fit
  // into it together, narrower formats are tried for them; for a weight of 2
  // MiB or more they always are. Rows along an inner dim are walked so that
  // what they read again stays there.
  int64_t cache_bytes = int64_t{1} << 20;
  int threads = 1;  // The most that a call uses.
  passes::FastHalves halves{};
  bool fast_products = false;  // See passes::RecurrentMachine.
  bool dot_products = false;   // See support::host_has_dot_products.
  bool tile_products = false;  // See support::host_has_tile_products.

  friend bool operator==(const Machine&, const Machine&) = default;
};

}  // namespace fxjit::program
