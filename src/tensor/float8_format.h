// How numbers of the types of 8 bits lie and round: said once, for the library
// and for the code that is generated.
#pragma once

#include <cstdint>

#include "fxjit/dtype.h"

namespace fxjit {

struct Float8Format {
  int mantissa, bias;
  // The least magnitude that is not rounded, and the code that stands for it
  // and for all beyond.
  float limit;
  uint8_t beyond;
};

inline constexpr Float8Format kFloat8E4M3{3, 7, 448, 0x7e};
inline constexpr Float8Format kFloat8E5M2{2, 15, 65536, 0x7c};
// Of magnitude bits.
inline constexpr uint8_t kFloat8Nan = 0x7f;

// Of one of the two types.
constexpr const Float8Format& float8_format(DType dtype) {
  return dtype == DType::f8e4m3 ? kFloat8E4M3 : kFloat8E5M2;
}

}  // namespace fxjit
