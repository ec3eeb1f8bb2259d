// A fact of the machine that lowering asks for.
#pragma once

#include "fxjit/dtype.h"

namespace fxjit::passes {

// The half types in which the machine multiplies faster than in f32.
struct FastHalves {
  bool f16 = false;
  bool bf16 = false;

  bool has(DType type) const {
    return (f16 && type == DType::f16) || (bf16 && type == DType::bf16);
  }
  friend bool operator==(const FastHalves&, const FastHalves&) = default;
};

}  // namespace fxjit::passes
