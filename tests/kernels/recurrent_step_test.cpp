// Steps of recurrent layers at every CPU level of this machine, against sums
// and functions in double precision.
#include "kernels/recurrence/step.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "tests/kernels/kernel_test_util.h"
#include "tests/support/guarded_bytes.h"

namespace fxjit::kernels::testing {
namespace TEST_FILE {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// Floats that nothing can be read or written beside.
class Floats {
 public:
  explicit Floats(const std::vector<float>& values)
      : count_(values.size()),
        bytes_(std::make_unique<support::GuardedBytes>(values.size() *
                                                       sizeof(float))) {
    std::copy(values.begin(), values.end(), data());
  }
  float* data() { return reinterpret_cast<float*>(bytes_->data()); }
  std::vector<float> values() { return {data(), data() + count_}; }

 private:
  size_t count_;
  std::unique_ptr<support::GuardedBytes> bytes_;
};

std::vector<float> drawn(int64_t count, unsigned seed, double scale = 1) {
  std::vector<float> values =
      random_tensor({count}, DType::f32, seed).to_floats();
  for (float& value : values) value *= static_cast<float>(scale);
  return values;
}

// A step without states: what the functions make of the gates.
std::vector<float> of_gates(StepWork work, const std::vector<float>& gates,
                            int64_t units, CpuLevel level,
                            std::vector<float> cell = {}) {
  const int64_t row = padded_units(units, level);
  Floats from(gates), out(std::vector<float>(static_cast<size_t>(units)));
  std::vector<float> next(static_cast<size_t>(row));
  std::vector<float> zeros(static_cast<size_t>(
      std::max<int64_t>(1, StepPacking{work, {}, units, 1, level}.floats())));
  cell.resize(static_cast<size_t>(row));
  const float* gates_row = from.data();
  float* out_row = out.data();
  RecurrentStep step;
  step.work = work;
  step.rows = 1, step.units = units, step.state_row = row;
  step.state = zeros.data(), step.packed = zeros.data();
  step.bias = zeros.data(), step.gates = &gates_row;
  step.cell = cell.data(), step.cell_row = row;
  step.next = next.data(), step.next_row = row;
  step.output = &out_row;
  recurrent_step(step, level);
  return out.values();
}

double ulps(float got, double expected) {
  if (std::isnan(got) || std::isnan(expected))
    return std::isnan(got) == std::isnan(expected) ? 0 : 1e9;
  const auto nearest = std::abs(static_cast<float>(expected));
  const float unit = std::nextafter(nearest, kInf) - nearest;
  return std::abs(got - expected) / unit;
}

TEST(RecurrentStep, TanhIsWithinFourUlps) {
  std::vector<float> x = {0.0f,    -0.0f,  kInf,  -kInf, kNan,    1e-45f,
                          -1e-40f, 1e-30f, 1e-8f, 88.0f, -100.0f, 3e38f};
  for (double v = 1e-6; v < 20; v *= 1.0007)
    x.push_back(static_cast<float>(v)), x.push_back(static_cast<float>(-v));
  for (CpuLevel level : host_levels()) {
    const std::vector<float> y =
        of_gates(StepWork::tanh, x, static_cast<int64_t>(x.size()), level);
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_LE(ulps(y[i], std::tanh(static_cast<double>(x[i]))), 4)
          << cpu_level_name(level) << " tanh(" << x[i] << ") = " << y[i];
  }
}

// A cell of 1e9, of which tanh is 1, shows the output gate.
TEST(RecurrentStep, SigmoidIsWithinFourUlps) {
  std::vector<float> x = {0.0f, -0.0f, kInf, -kInf, kNan, 88.0f, -87.0f};
  for (double v = 1e-6; v < 87; v *= 1.0007)
    x.push_back(static_cast<float>(v)), x.push_back(static_cast<float>(-v));
  const auto units = static_cast<int64_t>(x.size());
  std::vector<float> gates(3 * x.size(), 50.0f);
  gates.insert(gates.end(), x.begin(), x.end());
  for (CpuLevel level : host_levels()) {
    const std::vector<float> y = of_gates(StepWork::lstm, gates, units, level,
                                          std::vector<float>(x.size(), 1e9f));
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_LE(ulps(y[i], sigmoid(x[i])), 4)
          << cpu_level_name(level) << " sigmoid(" << x[i] << ") = " << y[i];
  }
}

TEST(RecurrentStep, ReluKeepsNan) {
  for (CpuLevel level : host_levels()) {
    const std::vector<float> y =
        of_gates(StepWork::relu, {-1, kNan, kInf, -kInf, 2}, 5, level);
    EXPECT_EQ(y[0], 0);
    EXPECT_TRUE(std::isnan(y[1]));
    EXPECT_EQ(y[2], kInf);
    EXPECT_EQ(y[3], 0);
    EXPECT_EQ(y[4], 2);
  }
}

struct Sizes {
  int64_t rows, depth, units;
  int64_t features = -1;  // Of inputs; negative: gates are given.
};

// What one row gives, from the sums of its gates.
struct Made {
  std::vector<double> next, cell;
};

Made finish(StepWork work, GateOrder order, const std::vector<double>& input,
            const std::vector<double>& product, const float* state,
            const float* cell, int64_t units) {
  Made made;
  const auto n = static_cast<size_t>(units);
  for (size_t u = 0; u < n; ++u) {
    const auto at = [&](size_t gate) {
      return static_cast<size_t>(order.place[gate]) * n + u;
    };
    const auto sum = [&](size_t gate) {
      return input[at(gate)] + product[at(gate)];
    };
    if (work == StepWork::lstm) {
      made.cell.push_back(sigmoid(sum(1)) * cell[u] +
                          sigmoid(sum(0)) * std::tanh(sum(2)));
      made.next.push_back(sigmoid(sum(3)) * std::tanh(made.cell[u]));
    } else if (work == StepWork::gru) {
      const double fresh =
          std::tanh(input[at(2)] + sigmoid(sum(0)) * product[at(2)]);
      const double update = sigmoid(sum(1));
      made.next.push_back((1 - update) * fresh + update * state[u]);
    } else {
      made.next.push_back(work == StepWork::tanh   ? std::tanh(sum(0))
                          : work == StepWork::relu ? std::max(sum(0), 0.0)
                                                   : product[u]);
    }
  }
  return made;
}

// Inputs of a step that multiplies them itself; at the rows' ends stands what
// must not be read.
class Inputs {
 public:
  Inputs(StepWork work, GateOrder order, Sizes sizes, int64_t columns,
         CpuLevel level)
      : features_(std::max<int64_t>(sizes.features, 0)),
        row_(features_ + 3),
        weights_(drawn(columns * features_, 31, 0.3)),
        bias_(drawn(columns, 32)),
        values_(static_cast<size_t>(sizes.rows * row_), kNan) {
    const std::vector<float> some = drawn(sizes.rows * features_, 33);
    for (int64_t r = 0; r < sizes.rows; ++r)
      std::copy_n(some.data() + r * features_, features_,
                  values_.data() + r * row_);
    const StepPacking packing{work, order, sizes.units, features_, level};
    packed_.resize(static_cast<size_t>(packing.floats()));
    packed_bias_.resize(static_cast<size_t>(packing.of_bias().floats()));
    packing.pack(weights_.data(), packed_.data());
    packing.of_bias().pack(bias_.data(), packed_bias_.data());
  }

  void set(RecurrentStep& step) const {
    step.inputs = values_.data();
    step.input_depth = features_, step.input_row = row_;
    step.input_packed = packed_.data();
    step.input_bias = packed_bias_.data();
  }
  double product(int64_t row, int64_t column) const {
    double sum = bias_[static_cast<size_t>(column)];
    for (int64_t k = 0; k < features_; ++k)
      sum += double(weights_[static_cast<size_t>(column * features_ + k)]) *
             values_[static_cast<size_t>(row * row_ + k)];
    return sum;
  }

 private:
  int64_t features_, row_;
  std::vector<float> weights_, bias_, values_, packed_, packed_bias_;
};

void expect_step(StepWork work, Sizes sizes, CpuLevel level, bool backward) {
  const auto [rows, depth, units, features] = sizes;
  GateOrder order;
  if (backward && work == StepWork::lstm) order.place = {0, 2, 3, 1};
  if (backward && work == StepWork::gru) order.place = {1, 0, 2, 3};
  const int64_t gates = work == StepWork::lstm  ? 4
                        : work == StepWork::gru ? 3
                                                : 1;
  const int64_t row = padded_units(std::max(units, depth), level);
  const auto weights = drawn(gates * units * depth, 1, 0.3);
  const auto bias = drawn(gates * units, 2), cells = drawn(rows * row, 3);
  const auto states = drawn(rows * row, 4);
  std::vector<Floats> inputs, outputs;
  for (int64_t r = 0; r < rows; ++r) {
    inputs.emplace_back(drawn(gates * units, 10 + static_cast<unsigned>(r)));
    outputs.emplace_back(std::vector<float>(static_cast<size_t>(units)));
  }
  std::vector<const float*> gate_rows;
  std::vector<float*> output_rows;
  for (Floats& each : inputs) gate_rows.push_back(each.data());
  for (Floats& each : outputs) output_rows.push_back(each.data());
  const StepPacking packing{work, order, units, depth, level};
  std::vector<float> packed(static_cast<size_t>(packing.floats()));
  packing.pack(weights.data(), packed.data());
  std::vector<float> packed_bias(
      static_cast<size_t>(packing.of_bias().floats()));
  packing.of_bias().pack(bias.data(), packed_bias.data());
  Floats weights_room(packed), cell(cells), state(states),
      next(std::vector<float>(static_cast<size_t>(rows * row)));
  RecurrentStep step;
  const Inputs given(work, order, sizes, gates * units, level);
  if (features >= 0)
    given.set(step);
  else
    step.gates = gate_rows.data();
  step.work = work;
  step.rows = rows, step.depth = depth, step.units = units;
  step.state = state.data(), step.state_row = row;
  step.packed = weights_room.data(), step.bias = packed_bias.data();
  step.order = order;
  step.cell = cell.data(), step.cell_row = row;
  step.next = next.data(), step.next_row = row;
  step.output = output_rows.data();
  step.backward = backward;
  recurrent_step(step, level);
  for (int64_t r = 0; r < rows; ++r) {
    std::vector<double> input, product;
    for (int64_t c = 0; c < gates * units; ++c) {
      double sum = work == StepWork::project ? 0 : bias[static_cast<size_t>(c)];
      for (int64_t k = 0; k < depth; ++k)
        sum += double(weights[static_cast<size_t>(c * depth + k)]) *
               states[static_cast<size_t>(r * row + k)];
      product.push_back(sum);
      input.push_back(features >= 0 ? given.product(r, c)
                                    : inputs[static_cast<size_t>(r)].data()[c]);
    }
    const Made made =
        finish(work, order, input, product, states.data() + r * row,
               cells.data() + r * row, units);
    for (int64_t u = 0; u < units; ++u) {
      const double bound =
          1e-6 *
          static_cast<double>(depth + std::max<int64_t>(features, 0) + 8);
      const double expected = made.next[static_cast<size_t>(u)];
      ASSERT_NEAR(output_rows[static_cast<size_t>(r)][u], expected, bound)
          << cpu_level_name(level) << " row " << r << " of " << rows
          << ", unit " << u << " of " << units << ", depth " << depth
          << ", features " << features;
      ASSERT_EQ(output_rows[static_cast<size_t>(r)][u],
                next.data()[r * row + u]);
      if (work == StepWork::lstm)
        ASSERT_NEAR(cell.data()[r * row + u], made.cell[static_cast<size_t>(u)],
                    bound);
    }
  }
}

TEST(RecurrentStep, EqualsSums) {
  for (CpuLevel level : host_levels())
    for (StepWork work : {StepWork::lstm, StepWork::gru, StepWork::tanh,
                          StepWork::relu, StepWork::project}) {
      for (int64_t rows : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 23})
        expect_step(work, {rows, 19, 19}, level, rows % 2 == 0);
      for (Sizes sizes : {Sizes{1, 1, 1},
                          {2, 64, 64},
                          {1, 33, 33},
                          {3, 0, 7},
                          {1, 130, 130},
                          {5, 16, 16}})
        for (bool backward : {false, true})
          expect_step(work, sizes, level, backward);
      if (work != StepWork::gru) expect_step(work, {4, 7, 21}, level, true);
    }
}

TEST(RecurrentStep, MultipliesItsInputs) {
  for (CpuLevel level : host_levels())
    for (StepWork work :
         {StepWork::lstm, StepWork::gru, StepWork::tanh, StepWork::relu})
      for (bool backward : {false, true}) {
        for (int64_t rows : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17})
          expect_step(work, {rows, 19, 19, 5}, level, backward);
        for (int64_t features : {0, 1, 2, 3, 4, 128, 200})
          for (int64_t rows : {1, 6})
            expect_step(work, {rows, 33, 33, features}, level, backward);
      }
}

}  // namespace TEST_FILE
}  // namespace fxjit::kernels::testing
