// One weight as the kernels read it: what it is made of, its size, and how it
// is written.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "fxjit/cpu_level.h"
#include "fxjit/tensor.h"
#include "src/weights/panels.h"
#include "src/weights/spec.h"

namespace fxjit::weights {

// A packed weight of a program with its numbers.
struct Weight {
  PackSpec spec;
  std::vector<Tensor> pieces;  // One per piece of `spec`.
  Coding coding;               // How the numbers are stored.

  // Equal for weights that are packed alike from the same memory.
  std::string key() const;
};

Weight weight_of(const PackSpec& spec, const std::vector<Tensor>& constants);

// Bytes of the packed weight, rounded up so that the next one is aligned.
size_t padded_bytes(const Weight& weight, CpuLevel level);

// Writes the packed weight to `out`, aligned as support::AlignedBlock is.
// Whether f32 numbers below the smallest normal one became zeros.
bool pack_weight(const Weight& weight, CpuLevel level, std::byte* out);

// The best coding of a weight of integers among these formats, all of quads:
// the first one if nothing is clipped for it.
Coding find_quad_coding(const Weight& weight, std::span<const Format> formats);
// The coding of a weight in blocks.
Coding find_block_coding(const Weight& weight, CpuLevel level);

// The pieces side by side; `kept` holds what was made for them.
std::vector<PackSource> sources_of(const Weight& weight,
                                   std::vector<Tensor>& kept);

}  // namespace fxjit::weights
