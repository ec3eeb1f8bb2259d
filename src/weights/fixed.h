// Weights as numbers of fixed point: 24 bits with sign, in steps of a size of
// their column. A weight is off by less than two steps (the scale is rounded,
// too), by 0.3 in the root of the mean square; a step is 2^-23 of the column's
// largest that is no outlier.
//
// First the steps, times 2^8, a float for each column of all panels. Then the
// panels: two rows of W columns are 2W numbers, the first half of row 0 the
// first quarter of these. W/2 words follow one another for each of the first
// three quarters, with the number in the upper 24 bits; below it is the byte of
// the last quarter's number: its highest in the first words, its lowest in the
// last. So unpacking takes shifts and masks at every level. Outliers have the
// largest number of their sign in the panels; what that lacks stands behind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "src/weights/panels.h"

namespace fxjit::weights {

// Unpacked numbers are this many times too large where factors are multiplied
// by kFixedFactor, and so are sums times the steps of the header right. Sums of
// factors up to 2^100 stay finite so, and factors above 2^-110 exact.
inline constexpr float kFixedFactor = 0x1p-16f;

// Steps in a unit, of all columns, or nothing where products would be less
// exact than those of f32 weights: the columns, and the rows in steps of the
// columns, have to be within a factor of 8 of their root mean square, but for a
// few outliers. 0 stands for a column of zeros.
std::vector<float> find_scales(std::span<const PackSource> sources,
                               int64_t depth);

void pack_fixed24(std::span<const PackSource> sources, int64_t depth,
                  int64_t width, std::span<const float> scales, std::byte* out);

}  // namespace fxjit::weights
