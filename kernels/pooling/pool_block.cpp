#include "kernels/pooling/pool_block.h"

#include <cstring>
#include <limits>

#include "fxjit/cpu_level.h"

#define FXJIT_LEVEL_CODE "kernels/pooling/pool_loops.h"

namespace fxjit::kernels {
namespace {

#include "kernels/each_level.h"

}  // namespace

void pool_block(const PoolBlock& block) { at_level(host_cpu_level(), block); }

}  // namespace fxjit::kernels
