// One weight as the kernels read it: what it is made of, its size, and how it
// is written.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "fxjit/cpu_level.h"
#include "fxjit/tensor.h"
#include "src/program/packing.h"
#include "src/program/program.h"

namespace fxjit::bind {

// A packed weight of a program with its numbers.
struct Weight {
  program::PackedWeight spec;
  std::vector<Tensor> pieces;    // One per piece of `spec`.
  program::WeightCoding coding;  // How the numbers are stored.

  // Equal for weights that are packed alike from the same memory.
  std::string key() const;
};

Weight weight_of(const program::PackedWeight& spec,
                 const std::vector<Tensor>& constants);

// Of the packed weight, rounded up so that the next one behind it is aligned.
size_t padded_bytes(const Weight& weight, CpuLevel level);

// Writes them to `out`, aligned as support::AlignedBlock is.
void pack_weight(const Weight& weight, CpuLevel level, std::byte* out);

// The pieces side by side; `kept` holds what was made for them.
std::vector<program::PackSource> sources_of(const Weight& weight,
                                            std::vector<Tensor>& kept);

}  // namespace fxjit::bind
