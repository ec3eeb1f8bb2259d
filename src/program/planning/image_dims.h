// Dims of images and volumes [N, C, spatial...], as planners read them.
#pragma once

#include "fxjit/dims.h"

namespace fxjit::program {

// What of sizes or strides belongs to the spatial dims.
inline Dims spatial_of(const Dims& dims) {
  Dims result;
  for (int d = 2; d < dims.size(); ++d) result.push_back(dims[d]);
  return result;
}

}  // namespace fxjit::program
