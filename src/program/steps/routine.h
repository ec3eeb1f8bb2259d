// Which code computes a call that no loop skeleton gives.
#pragma once

#include <cstdint>

namespace fxjit::program {

enum class Routine : uint8_t {
  eager,              // The op's eager kernel.
  pool,               // Windows of [N, C, ...].
  pool_last,          // Windows of [N, ..., C].
  cumulative_sum,     // Running sums along a dim.
  recurrence,         // All steps of a recurrent layer.
  copy,               // Copies of short runs of memory.
  depthwise,          // One filter for each channel, channels last.
  image_convolution,  // Images of few channels, results with features last.
  convolution,        // The library's convolution.
  half_product,       // The library's product of f16 or bf16.
  double_product,     // Products of f64.
};

const char* routine_name(Routine routine);

}  // namespace fxjit::program
