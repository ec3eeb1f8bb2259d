// Gates that the steps of one sequence make ahead, on AVX-512: as sums in
// double precision, however much of them steps have room for; and the steps
// themselves as without that.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/recurrence/step.h"
#include "tests/kernels/kernel_test_util.h"

namespace fxjit::kernels::testing {
namespace TEST_FILE {

constexpr CpuLevel kLevel = CpuLevel::avx512;
constexpr int64_t kLanes = 16;

std::vector<float> drawn(int64_t count, unsigned seed, float scale = 1) {
  std::vector<float> values =
      random_tensor({count}, DType::f32, seed).to_floats();
  for (float& value : values) value *= scale;
  return values;
}

struct Sizes {
  int64_t units, features;
  int each;
};

// Inputs, weights and the memory of one block.
class Block {
 public:
  Block(Sizes sizes, int64_t columns)
      : columns_(columns),
        features_(sizes.features),
        inputs_(drawn(features_ * kAheadTimes, 1)),
        weights_(drawn(columns * features_, 2, 0.3f)),
        bias_(drawn(columns, 3)) {
    const int64_t wide = padded_units(columns, kLevel);
    const StepPacking packing{StepWork::relu, {},     columns,
                              features_,      kLevel, /*ahead=*/true};
    packed_.resize(static_cast<size_t>(packing.floats()));
    packing.pack(weights_.data(), packed_.data());
    padded_bias_ = bias_;
    padded_bias_.resize(static_cast<size_t>(wide));
    gates_.assign(static_cast<size_t>(kAheadTimes * wide),
                  std::numeric_limits<float>::quiet_NaN());
    ahead.packed = packed_.data(), ahead.inputs = inputs_.data();
    ahead.bias = padded_bias_.data(), ahead.gates = gates_.data();
    ahead.gates_row = wide, ahead.depth = features_;
    ahead.vectors = wide / kLanes, ahead.each = sizes.each;
  }

  void expect_gates() const {
    for (int64_t t = 0; t < kAheadTimes; ++t)
      for (int64_t c = 0; c < columns_; ++c) {
        double sum = bias_[static_cast<size_t>(c)];
        for (int64_t k = 0; k < features_; ++k)
          sum += double(weights_[static_cast<size_t>(c * features_ + k)]) *
                 inputs_[static_cast<size_t>(k * kAheadTimes + t)];
        ASSERT_NEAR(gates_[static_cast<size_t>(t * ahead.gates_row + c)], sum,
                    1e-6 * static_cast<double>(features_ + 8))
            << "time " << t << ", column " << c;
      }
  }

  InputsAhead ahead;

 private:
  int64_t columns_, features_;
  std::vector<float> inputs_, weights_, bias_, packed_, padded_bias_, gates_;
};

// One sequence, whose steps get the same gates.
class Sequence {
 public:
  Sequence(StepWork work, int64_t units, int64_t columns)
      : row_(padded_units(units, kLevel)),
        gates_(drawn(columns, 4)),
        weights_(static_cast<size_t>(
            StepPacking{work, {}, units, units, kLevel}.floats())),
        state_(drawn(2 * row_, 5)),
        cell_(drawn(row_, 6)),
        from_(gates_.data()) {
    StepPacking{work, {}, units, units, kLevel}.pack(
        drawn(columns * units, 7, 0.05f).data(), weights_.data());
    step_.work = work, step_.rows = 1;
    step_.depth = step_.units = units;
    step_.packed = weights_.data(), step_.gates = &from_;
    step_.state = state_.data(), step_.next = state_.data() + row_;
    step_.state_row = step_.next_row = step_.cell_row = row_;
    step_.cell = cell_.data();
  }

  // The state behind so many steps.
  std::vector<float> run(int steps, InputsAhead* ahead) {
    step_.ahead = ahead;
    for (int i = 0; i < steps; ++i) {
      recurrent_step(step_, kLevel);
      float* const next = step_.next;
      step_.next = const_cast<float*>(step_.state);
      step_.state = next;
      step_.backward = !step_.backward;
    }
    return {step_.state, step_.state + step_.units};
  }

 private:
  int64_t row_;
  std::vector<float> gates_, weights_, state_, cell_;
  const float* from_;
  RecurrentStep step_;
};

void expect_ahead(StepWork work, Sizes sizes, int steps) {
  const int64_t gates = work == StepWork::lstm  ? 4
                        : work == StepWork::gru ? 3
                                                : 1;
  const int64_t columns = gates * sizes.units;
  Block block(sizes, columns);
  const auto got =
      Sequence(work, sizes.units, columns).run(steps, &block.ahead);
  const auto plain = Sequence(work, sizes.units, columns).run(steps, nullptr);
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], plain[i], 1e-5) << "unit " << i;
  finish_ahead(block.ahead);
  block.expect_gates();
}

TEST(RecurrentAhead, GatesAreSums) {
  if (host_cpu_level() < kLevel) GTEST_SKIP() << "needs AVX-512";
  for (StepWork work :
       {StepWork::lstm, StepWork::gru, StepWork::tanh, StepWork::relu})
    for (int64_t units : {1, 3, 16, 33, 128})
      for (int64_t features : {1, 2, 3, 16, 128, 200})
        for (int each : {1, 2})
          for (int steps : {0, 1, kAheadTimes}) {
            SCOPED_TRACE(std::to_string(units) + " units, " +
                         std::to_string(features) + " features, " +
                         std::to_string(steps) + " steps");
            expect_ahead(work, {units, features, each}, steps);
          }
}

// Steps alone make all of a block where there is room.
TEST(RecurrentAhead, StepsHaveRoom) {
  if (host_cpu_level() < kLevel) GTEST_SKIP() << "needs AVX-512";
  for (StepWork work : {StepWork::lstm, StepWork::gru, StepWork::tanh})
    for (Sizes sizes :
         {Sizes{128, 128, 1}, {128, 256, 2}, {128, 3, 1}, {128, 131, 2}}) {
      const int64_t gates = work == StepWork::lstm  ? 4
                            : work == StepWork::gru ? 3
                                                    : 1;
      Block block(sizes, gates * sizes.units);
      Sequence(work, sizes.units, gates * sizes.units)
          .run(kAheadTimes, &block.ahead);
      EXPECT_EQ(block.ahead.vector, block.ahead.vectors)
          << sizes.features << " features";
      block.expect_gates();
    }
}

}  // namespace TEST_FILE
}  // namespace fxjit::kernels::testing
