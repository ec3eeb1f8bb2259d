// Winograd steps with random operands and what they come to in double
// precision. For the tests of Winograd kernels.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "fxjit/cpu_level.h"
#include "src/program/steps/step_code.h"
#include "src/program/steps/steps.h"
#include "tests/support/guarded_bytes.h"

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
  // Nothing can be read or written beside the operands and the scratch that the
  // step asks for.
  void run(CpuLevel level, bool in_ranges = false);

  WinogradErrors errors() const;
  // Both outputs against a double-precision direct convolution.
  void expect_right(double tolerance) const;

  float* input() { return input_.data(); }
  float sum(int64_t n, int64_t y, int64_t x, int64_t o) const;
  const program::WinogradStep& step() const { return step_; }

 private:
  int64_t at(int64_t n, int64_t y, int64_t x, int64_t o) const;
  double expected(int64_t n, int64_t y, int64_t x, int64_t o) const;
  using Kernel = void (*)(const program::StepCall*, int64_t, int64_t);
  void run(Kernel kernel, CpuLevel level, bool in_ranges,
           support::GuardedBytes::Tight tight);
  std::vector<float> packed(CpuLevel level) const;
  template <typename Visit>
  void for_each(Visit visit) const;

  program::WinogradStep step_;
  std::vector<float> input_, bias_, residual_, out_, sum_;
  std::vector<float> weights_;  // [features, channels, 3, 3]
};

}  // namespace fxjit::jit::testing
