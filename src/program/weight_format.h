// Formats of packed weights. A product of few rows takes as long as its weights
// take to arrive, so those that fit in fewer bits without loss are kept in
// fewer: checkpoints of half types, and most others, whose exponents are few.
//
// All formats have the panels of program/packing.h. Of f28, the first 64 bytes
// are the exponents in their places by code, then the panels: for every two
// rows of 64 columns the codes (bits 4i to 4i+3 of number l are of vector i,
// lane l), then the vectors, three bytes of mantissa and sign a lane. Weights
// of other exponents, outliers, are the least normal float of their sign there
// (infinite factors keep theirs, and no multiplication meets a denormal);
// what that lacks stands behind the panels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "fxjit/cpu_level.h"
#include "src/program/packing.h"

namespace fxjit::program {

enum class WeightFormat : uint8_t {
  f32,
  f16,
  bf16,
  f28,  // 23 bits of mantissa, the sign, 4 bits for 14 exponents, zero's, 1.
};

const char* weight_format_name(WeightFormat format);

struct WeightCoding {
  WeightFormat format = WeightFormat::f32;
  int32_t first_exponent = 0;  // Of f28, biased; 14 follow one another.

  friend bool operator==(const WeightCoding&, const WeightCoding&) = default;
};

// The least format that holds all weights exactly and that the level can read.
WeightCoding find_coding(std::span<const PackSource> sources, int64_t depth,
                         CpuLevel level);

// Bytes of one row of a panel; two rows of f28 lie together.
int64_t panel_row_bytes(WeightFormat format, int64_t width);
// Bytes before the first panel.
int64_t header_bytes(WeightFormat format);
// Bytes of a packed K x N matrix.
int64_t packed_bytes(WeightFormat format, int64_t depth, int64_t columns,
                     int64_t width);

// Packs the sources side by side into `out`, 64-byte aligned.
void pack_weights(std::span<const PackSource> sources, int64_t depth,
                  int64_t width, const WeightCoding& coding, std::byte* out);

inline constexpr int64_t kF28Rows = 2;
inline constexpr int64_t kF28CodeBytes = 64;
inline constexpr int64_t kF28VectorBytes = 48;

// A weight that no code of f28 stands for.
struct Outlier {
  uint32_t depth;
  uint32_t lane;  // Column within the panel.
  float value;    // To be added to the weight in the panel.
};

// Those of the panels of a matrix packed as f28.
class Outliers {
 public:
  Outliers() = default;
  Outliers(const std::byte* packed, int64_t depth, int64_t columns,
           int64_t width);

  std::span<const Outlier> of_panel(int64_t panel) const;

 private:
  const uint32_t* ends_ = nullptr;  // By panel.
  const Outlier* first_ = nullptr;
};

}  // namespace fxjit::program
