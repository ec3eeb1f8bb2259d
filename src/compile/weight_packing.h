// One weight as the kernels read it: its size, and how it is written.
#pragma once

#include <cstddef>
#include <vector>

#include "fxjit/cpu_level.h"
#include "fxjit/tensor.h"
#include "src/program/packing.h"
#include "src/program/program.h"

namespace fxjit {

// Of the packed weight, rounded up so that the next one behind it is aligned.
size_t padded_bytes(const program::PackedWeight& weight, CpuLevel level);

// Writes them to `out`, aligned as support::AlignedBlock is.
void pack_weight(const program::PackedWeight& weight, CpuLevel level,
                 std::byte* out);

// The pieces side by side; `kept` holds what was made for them.
std::vector<program::PackSource> sources_of(const program::PackedWeight& weight,
                                            std::vector<Tensor>& kept);

}  // namespace fxjit
