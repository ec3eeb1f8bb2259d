// Attention steps with random operands and what they come to in double
// precision. For the tests of attention kernels.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "fxjit/cpu_level.h"
#include "src/program/steps/steps.h"

namespace fxjit::jit::testing {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Contiguous operands, no mask, the usual scale.
program::AttentionStep make_attention(int64_t queries, int64_t keys,
                                      int64_t depth, int64_t value_depth,
                                      int64_t batch = 1, int64_t heads = 1);

// A step with one more mask, keys side by side unless said otherwise.
void add_mask(program::AttentionStep& step, passes::MaskKind kind,
              const program::HeadAccess& access, int64_t key_stride = 1,
              float value = 1);

// A step and its operands, as small as its strides allow; to be changed before
// run().
struct AttentionProblem {
  program::AttentionStep step;
  std::vector<float> q, k, v, out;
  // One of each per mask of the step: its elements if additive or if not.
  std::vector<std::vector<float>> masks;
  std::vector<std::vector<uint8_t>> flags;

  explicit AttentionProblem(const program::AttentionStep& s);

  // Computes `out`. Nothing can be read or written beside the operands and the
  // scratch that the step asks for.
  void run(CpuLevel level);

  // Rows that are multiples of `every`, and that nothing else was written.
  void expect_right(double tolerance = 4e-6, int64_t every = 1) const;

 private:
  struct Row {
    int64_t outer, batch, head, row;
  };
  static size_t at(const program::HeadAccess& access, const Row& r);
  double masked(double score, const Row& r, int64_t key) const;
  std::vector<double> scores(const Row& r) const;
  std::vector<double> expected(const Row& r) const;
  void expect_row(const Row& r, double tolerance) const;
};

}  // namespace fxjit::jit::testing
