// Window steps with random operands and what they come to in double precision.
// For the tests of window kernels.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "fxjit/cpu_level.h"
#include "src/program/steps/steps.h"
#include "tests/support/guarded_bytes.h"

namespace fxjit::jit::testing {

// Dims of depth, height and width.
struct WindowSizes {
  int64_t images, channels, multiplier;
  Dims sizes, taps, strides, dilations, pads;
  program::WindowCombine combine = program::WindowCombine::products;
  bool has_bias = true;
  bool channels_inner = false;
  // Channels that each result sums; `channels` are groups then.
  int64_t group_channels = 0;
};

// A step whose outputs are silu(sum * each[n, o] + residual), or relu of that
// argument, and the plain sum. None where there would be no places.
std::optional<program::WindowStep> make_window(const WindowSizes& sizes,
                                               bool with_silu);

class WindowProblem {
 public:
  // `gap`: floats between the rows of the input, and between its places where
  // channels are innermost. With `planes` they are not, whatever the results.
  WindowProblem(program::WindowStep step, int64_t gap, uint32_t seed,
                bool planes = false);

  // Computes the outputs for `threads`, in ranges of tasks of growing length.
  // Nothing can be read or written beside the operands and the scratch that the
  // step asks for. For one thread weights come as they are, for more as
  // programs pack those that they know.
  void run(CpuLevel level, int threads);
  // Both outputs against double precision.
  void expect_right() const;

  std::vector<float>& input() { return input_; }
  std::vector<float>& weights() { return weights_; }

 private:
  using Kernel = void (*)(const program::StepCall*, int64_t, int64_t);
  void run(Kernel kernel, CpuLevel level, support::GuardedBytes::Tight tight);
  std::vector<float> packed_weights() const;
  double expected(const Dims& place) const;
  // The place of output number `i`, and a weight of a channel of the result.
  Dims place_of(size_t i) const;
  double weight(int64_t result, int64_t channel, int64_t tap) const;
  std::optional<double> element(const Dims& place, int64_t channel,
                                const Dims& tap) const;

  program::WindowStep step_;
  std::vector<float> input_, weights_, bias_, each_, residual_, out_, sum_;
};

}  // namespace fxjit::jit::testing
