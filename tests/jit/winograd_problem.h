// Winograd steps with random operands and what they come to in double
// precision. For the tests of Winograd kernels.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "fxjit/cpu_level.h"
#include "src/program/steps.h"
#include "src/support/aligned_block.h"

namespace fxjit::jit::testing {

struct WinogradSizes {
  int64_t batch, height, width, channels, features;
  int64_t pad = 1;  // On all sides.
  int64_t tile = 4;
};

// A contiguous step whose outputs are silu(sum + bias[o] + residual) or
// relu of it, and the plain sum.
program::WinogradStep make_winograd(const WinogradSizes& sizes,
                                    bool with_silu = false);

struct WinogradErrors {
  double rms = 0;  // Of the plain sums, relative to their own RMS.
  double max = 0;  // Largest error, likewise.
};

class WinogradProblem {
 public:
  explicit WinogradProblem(const program::WinogradStep& step);

  // Computes the outputs in ranges of tasks of growing length, or all at once.
  // Nothing can be read behind the operands, nothing may be written beside them
  // or the scratch that the step asks for.
  void run(CpuLevel level, bool in_ranges = false);

  WinogradErrors errors() const;
  // Both outputs against a double-precision direct convolution.
  void expect_right(double tolerance) const;

  float* input() { return floats(input_); }
  float sum(int64_t n, int64_t y, int64_t x, int64_t o) const;
  const program::WinogradStep& step() const { return step_; }

 private:
  static float* floats(const support::AlignedBlock& block) {
    return reinterpret_cast<float*>(block.data());
  }
  int64_t at(int64_t n, int64_t y, int64_t x, int64_t o) const;
  double expected(int64_t n, int64_t y, int64_t x, int64_t o) const;
  template <typename Visit>
  void for_each(Visit visit) const;

  program::WinogradStep step_;
  support::AlignedBlock input_, bias_, residual_, out_, sum_;
  std::vector<float> weights_;  // [features, channels, 3, 3]
};

}  // namespace fxjit::jit::testing
