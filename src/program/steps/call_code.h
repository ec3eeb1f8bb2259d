// Which code computes a call that no skeleton computes: a routine, which is C++
// of our own, a primitive of oneDNN, or the op's eager function.
#pragma once

#include <cstdint>

namespace fxjit::program {

enum class CallCode : uint8_t {
  eager,              // The op's eager function.
  cumulative_sum,     // Running sums along a dim.
  recurrence,         // All steps of a recurrent layer.
  copy,               // Copies of short runs of memory.
  image_convolution,  // Images of few channels, results with features last.
  convolution,        // A primitive.
  half_product,       // A primitive, products of f16 or bf16.
  double_product,     // Products of f64.
};

}  // namespace fxjit::program
