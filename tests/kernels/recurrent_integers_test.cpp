// Steps of recurrent layers with weights of 8 bits at every CPU level of this
// machine, against sums of whole numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/recurrence/step.h"
#include "tests/kernels/kernel_test_util.h"

namespace fxjit::kernels::testing {
namespace TEST_FILE {

// A layer of relu or tanh whose gates are zeros: what comes out is the product.
struct Layer {
  StepWork work;
  StepNumbers numbers;
  int64_t rows, depth, units;
  std::vector<float> states;     // [rows][depth]
  std::vector<uint8_t> weights;  // [units][depth]
  std::vector<float> scales, zeros;

  Layer(StepWork step_work, StepNumbers kind, int64_t count, int64_t deep,
        int64_t wide)
      : work(step_work), numbers(kind), rows(count), depth(deep), units(wide) {
    states = random_tensor({rows, depth}, DType::f32, 5).to_floats();
    uint32_t state = 7;
    for (int64_t i = 0; i < units * depth; ++i)
      weights.push_back(
          static_cast<uint8_t>((state = state * 1664525 + 1013904223) >> 24));
    for (int64_t c = 0; c < units; ++c) {
      scales.push_back(0.001f * static_cast<float>(c % 5 + 1));
      zeros.push_back(static_cast<float>(c % 3 == 0 ? 0 : c % 7 - 3));
    }
  }

  int64_t weight(int64_t c, int64_t k) const {
    const uint8_t bits = weights[static_cast<size_t>(c * depth + k)];
    return numbers == StepNumbers::u8 ? bits : static_cast<int8_t>(bits);
  }
  // What the product of a row and a column is, by its definition.
  double expected(int64_t r, int64_t c) const {
    const float* x = states.data() + r * depth;
    const float low = std::min(0.0f, *std::min_element(x, x + depth));
    const float high = std::max(0.0f, *std::max_element(x, x + depth));
    const float scale = low == high ? 1.0f : (high - low) / 255.0f;
    const auto zero = static_cast<int64_t>(std::nearbyint(-low / scale));
    int64_t sum = 0;
    for (int64_t k = 0; k < depth; ++k) {
      const auto q = static_cast<int64_t>(std::nearbyint(x[k] / scale)) + zero;
      sum +=
          (std::clamp<int64_t>(q, 0, 255) - zero) *
          (weight(c, k) - static_cast<int64_t>(zeros[static_cast<size_t>(c)]));
    }
    return static_cast<double>(sum) * scale * scales[static_cast<size_t>(c)];
  }

  std::vector<float> run(CpuLevel level, bool backward) const;
};

std::vector<float> Layer::run(CpuLevel level, bool backward) const {
  const StepPacking packing{work, {}, units, depth, level, false, numbers};
  const auto packed_of = [&](const StepPacking& how, const void* from) {
    std::vector<float> packed(static_cast<size_t>(how.floats()));
    how.pack(from, packed.data());
    return packed;
  };
  std::vector<float> packed_zeros = zeros;
  if (numbers == StepNumbers::u8)
    for (float& zero : packed_zeros) zero -= 128;
  const auto packed = packed_of(packing, weights.data());
  const auto column_scales = packed_of(packing.of_bias(), scales.data());
  const auto column_zeros = packed_of(packing.of_bias(), packed_zeros.data());
  const int64_t row = padded_units(depth, level);
  std::vector<StateNumbers> state_numbers(static_cast<size_t>(rows));
  std::vector<uint8_t> bytes(static_cast<size_t>(2 * rows * row), 0xff);
  const int64_t next_row = padded_units(units, level);
  std::vector<float> next(static_cast<size_t>(rows * next_row));
  const std::vector<float> gates(static_cast<size_t>(units));
  const std::vector<const float*> gate_rows(static_cast<size_t>(rows),
                                            gates.data());
  const int64_t sums_row = packing.of_bias().floats();
  std::vector<float> sums(static_cast<size_t>(rows * sums_row));
  RecurrentStep step;
  step.work = work;
  step.rows = rows, step.depth = depth, step.units = units;
  step.state = states.data(), step.state_row = depth;
  step.packed = packed.data();
  step.integers = {column_scales.data(),
                   column_zeros.data(),
                   state_numbers.data(),
                   bytes.data(),
                   row,
                   sums.data(),
                   sums_row};
  step.gates = gate_rows.data();
  step.next = next.data(), step.next_row = next_row;
  step.backward = backward;
  recurrent_step(step, level);
  std::vector<float> made;
  for (int64_t r = 0; r < rows; ++r)
    made.insert(made.end(), next.begin() + r * next_row,
                next.begin() + r * next_row + units);
  return made;
}

void expect_exact(const Layer& layer, CpuLevel level) {
  const std::vector<float> made = layer.run(level, layer.rows % 2 == 0);
  for (int64_t r = 0; r < layer.rows; ++r)
    for (int64_t c = 0; c < layer.units; ++c) {
      const double sum = std::max(layer.expected(r, c), 0.0);
      ASSERT_NEAR(made[static_cast<size_t>(r * layer.units + c)], sum,
                  1e-6 * std::abs(sum))
          << cpu_level_name(level) << " row " << r << ", column " << c
          << ", depth " << layer.depth;
    }
}

TEST(RecurrentIntegers, SumsAreExact) {
  for (CpuLevel level : host_levels())
    for (StepNumbers numbers : {StepNumbers::i8, StepNumbers::u8}) {
      for (int64_t rows : {1, 2, 3, 4, 7, 9})
        expect_exact({StepWork::relu, numbers, rows, 19, 37}, level);
      for (int64_t depth : {1, 2, 3, 4, 5, 31, 128, 300})
        expect_exact({StepWork::relu, numbers, 1, depth, 65}, level);
    }
}

// States and weights at the ends of their ranges, side by side.
TEST(RecurrentIntegers, NothingSaturates) {
  for (CpuLevel level : host_levels())
    for (StepNumbers numbers : {StepNumbers::i8, StepNumbers::u8})
      for (uint8_t weight : {0x80, 0x7f, 0xff, 0x00})
        for (float low : {-1.0f, -0.001f, 0.0f, 1.0f}) {
          Layer layer(StepWork::relu, numbers, 1, 24, 40);
          std::fill(layer.weights.begin(), layer.weights.end(), weight);
          std::fill(layer.states.begin(), layer.states.end(), low);
          std::fill_n(layer.states.begin(), 12, 1.0f);
          expect_exact(layer, level);
          std::fill(layer.states.begin(), layer.states.end(), -2 * low);
          expect_exact(layer, level);
        }
}

TEST(RecurrentIntegers, StatesThatAreNotFiniteMakeNaN) {
  for (CpuLevel level : host_levels())
    for (float bad : {std::numeric_limits<float>::infinity(),
                      -std::numeric_limits<float>::infinity(),
                      std::numeric_limits<float>::quiet_NaN()}) {
      Layer layer(StepWork::tanh, StepNumbers::i8, 2, 33, 20);
      layer.states[40] = bad;  // Of the second row.
      const std::vector<float> made = layer.run(level, false);
      for (size_t c = 0; c < 40; ++c)
        ASSERT_EQ(std::isnan(made[c]), c >= 20) << cpu_level_name(level);
    }
}

}  // namespace TEST_FILE
}  // namespace fxjit::kernels::testing
