// Weights in 28 bits, none lost: the mantissa, the sign, and the exponent as
// one of 16 codes.
//
// The first 64 bytes are the exponents in their places by code: zero's, 14 that
// follow one another, an outlier's. Then the panels: for every two rows of 64
// columns the codes (bits 4i to 4i+3 of number l are of vector i, lane l), then
// the vectors, three bytes of mantissa and sign a lane. Outliers are the least
// normal float of their sign there (infinite factors keep theirs, and no
// multiplication meets a denormal); what that lacks stands behind the panels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "src/weights/panels.h"

namespace fxjit::weights {

inline constexpr int64_t kF28CodeBytes = 64;
inline constexpr int64_t kF28VectorBytes = 48;
inline constexpr int64_t kF28HeaderBytes = 64;

// The first of the exponents that hold most weights, if they hold enough.
std::optional<int32_t> find_exponents(std::span<const PackSource> sources,
                                      int64_t depth);

void pack_f28(std::span<const PackSource> sources, int64_t depth, int64_t width,
              int32_t first_exponent, std::byte* out);

}  // namespace fxjit::weights
