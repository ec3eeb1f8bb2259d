// Images to other sizes, over planes and with channels innermost, against plain
// loops in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <span>

#include "jit/emit/kernel_function.h"
#include "jit/emit/skeletons.h"
#include "jit/engine/compiler.h"
#include "jit/engine/ir_module.h"
#include "src/program/steps/steps.h"
#include "src/support/machine/vector_lanes.h"
#include "src/support/rounding.h"
#include "src/weights/panels.h"
#include "tests/jit/build_ir.h"
#include "tests/jit/jit_test_util.h"
#include "tests/support/guarded_bytes.h"

namespace fxjit::jit {
namespace TEST_FILE {

using program::ResampleStep;
using support::GuardedBytes;

std::vector<float> randoms(int64_t elements, std::mt19937& random) {
  std::vector<float> values(static_cast<size_t>(elements));
  std::normal_distribution<float> value;
  std::ranges::generate(values, [&] { return value(random); });
  return values;
}

// The places and weights of a dim, [taps, to]; no taps: it stays.
struct Table {
  Table(int64_t from, int64_t to, int64_t taps, bool weighted, int64_t jitter,
        std::mt19937& random)
      : taps(taps), to(taps == 0 ? from : to) {
    for (int64_t i = 0; i < taps * to; ++i) {
      const int64_t middle = i % to * from / to + i / to - taps / 2;
      const int64_t off = static_cast<int64_t>(random() % (jitter + 1));
      places.push_back(
          static_cast<int32_t>(std::clamp<int64_t>(middle + off, 0, from - 1)));
    }
    if (weighted) weights = randoms(taps * to, random);
  }

  int64_t place(int64_t tap, int64_t i) const {
    return taps == 0 ? i : places[static_cast<size_t>(tap * to + i)];
  }
  double weight(int64_t tap, int64_t i) const {
    return weights.empty() ? 1 : weights[static_cast<size_t>(tap * to + i)];
  }
  // Of the taps of a place, or of a vector of places of each tap.
  int64_t span() const {
    int64_t most = 1;
    for (int64_t i = 0; i < to; ++i)
      for (int64_t a = 0; a < taps; ++a)
        for (int64_t b = 0; b < taps; ++b)
          most = std::max(most, place(a, i) - place(b, i) + 1);
    return most;
  }
  int64_t span_of_vectors(int64_t lanes) const {
    int64_t most = 1;
    for (int64_t tap = 0; tap < taps && to >= lanes; ++tap)
      for (int64_t i = 0; i < to; i += lanes)
        for (int64_t k = 0; k < lanes * lanes; ++k) {
          const int64_t first = std::min(i, to - lanes);
          most = std::max(most, place(tap, first + k / lanes) -
                                    place(tap, first + k % lanes) + 1);
        }
    return most;
  }

  // How many neighbours each of `from` elements is; 1 where they differ.
  int64_t factor(int64_t from) const {
    if (taps != 1 || !weights.empty() || to % from != 0) return 1;
    for (int64_t i = 0; i < to; ++i)
      if (place(0, i) != i / (to / from)) return 1;
    return to / from;
  }

  int64_t taps, to;
  std::vector<int32_t> places;
  std::vector<float> weights;
};

struct Sizes {
  int64_t images, channels, height, width, rows, columns;
  int64_t row_taps, column_taps;
  bool weighted, channels_inner;
  int64_t jitter = 0, gap = 0;
};

// out = relu(sum + residual), where the sum is of the input at the places.
class Problem {
 public:
  Problem(const Sizes& s, CpuLevel level, std::mt19937& random)
      : s_(s),
        rows_(s.height, s.rows, s.row_taps, s.weighted, s.jitter, random),
        columns_(s.width, s.columns, s.column_taps, s.weighted, s.jitter,
                 random) {
    step_.channels_inner = s.channels_inner;
    step_.sizes = {s.height, s.width};
    step_.row_taps = s.row_taps, step_.column_taps = s.column_taps;
    step_.row_weights = s.weighted;
    step_.column_weights = s.weighted && s.column_taps > 0;
    step_.row_span = rows_.span();
    step_.column_span = columns_.span_of_vectors(support::vector_lanes(level));
    step_.row_factor = rows_.factor(s.height);
    step_.column_factor = columns_.factor(s.width);
    const int64_t h = rows_.to, w = columns_.to, c = s.channels;
    program::Access whole;
    if (s.channels_inner) {
      const int64_t column = c + s.gap, row = s.width * column;
      step_.steps = {s.height * row, 1, row, column};
      step_.outer = {s.images, h, w};
      step_.inner = c;
      whole.outer = {h * w * c, w * c, c};
    } else {
      const int64_t row = s.width + s.gap, plane = s.height * row;
      step_.steps = {c * plane, plane, row, 1};
      step_.outer = {s.images, c, h};
      step_.inner = w;
      whole.outer = {c * h * w, h * w, w};
    }
    step_.inputs = {whole};
    step_.outputs = {whole};
    ScalarBuilder body;
    step_.epilogue = body.finish({body.apply(
        Prim::maximum, body.input(0, DType::f32) + body.input(1, DType::f32),
        body.constant(0, DType::f32))});
    // The last element is the input's own.
    const Dims last{s.images - 1, c - 1, s.height - 1, s.width - 1};
    int64_t end = 1;
    for (int d = 0; d < 4; ++d) end += last[d] * step_.steps[d];
    input_ = randoms(end, random);
    residual_ = randoms(s.images * c * h * w, random);
  }

  void run(CpuLevel level, int threads) {
    step_.analyse(program::Machine{.level = level, .threads = threads});
    EngineOptions options;
    options.cpu_level = level;
    IrModule module = make_ir_module("resample");
    VectorBuilder b(*make_function<program::KernelFn>(*module.module, "kernel"),
                    level);
    emit(b, program::resample_form(step_));
    const auto code = build(Compiler(options), std::move(module));
    const auto kernel =
        code->function<void(const program::StepCall*, int64_t, int64_t)>(
            "kernel");
    for (const auto tight :
         {GuardedBytes::Tight::begin, GuardedBytes::Tight::end})
      run(kernel, step_.plan(level), tight);
  }

  std::vector<float>& input() { return input_; }

 private:
  template <typename T>
  static GuardedBytes guarded(const std::vector<T>& values,
                              GuardedBytes::Tight tight) {
    return GuardedBytes(std::as_bytes(std::span(values)), tight);
  }

  void run(void (*kernel)(const program::StepCall*, int64_t, int64_t),
           const program::StepPlan& plan, GuardedBytes::Tight tight) {
    const GuardedBytes input = guarded(input_, tight),
                       row_places = guarded(rows_.places, tight),
                       row_weights = guarded(rows_.weights, tight),
                       column_places = guarded(columns_.places, tight),
                       column_weights = guarded(columns_.weights, tight),
                       residual = guarded(residual_, tight);
    const GuardedBytes out(residual_.size() * sizeof(float), tight);
    const GuardedBytes scratch(
        support::round_up(plan.scratch_bytes, size_t{64}), tight);
    std::vector<void*> operands{input.data(), row_places.data()};
    if (step_.row_weights) operands.push_back(row_weights.data());
    if (step_.column_taps > 0) operands.push_back(column_places.data());
    if (step_.column_weights) operands.push_back(column_weights.data());
    operands.push_back(residual.data());
    operands.push_back(out.data());
    std::vector<int64_t> numbers = program::loop_arguments(step_);
    const std::vector<int64_t> more = program::resample_numbers(step_);
    numbers.insert(numbers.end(), more.begin(), more.end());
    int32_t status = 0;
    const program::StepCall call{operands.data(), scratch.data(), &status,
                                 numbers.data()};
    for (int64_t first = 0, count = 1; first < plan.tasks; first += count++)
      kernel(&call, first, std::min(first + count, plan.tasks));
    expect_right(reinterpret_cast<const float*>(out.data()));
  }

  double sum(int64_t n, int64_t c, int64_t y, int64_t x) const {
    const auto all = [](int64_t taps) { return std::max<int64_t>(1, taps); };
    double total = 0;
    for (int64_t i = 0; i < s_.row_taps; ++i) {
      double row = 0;
      for (int64_t j = 0; j < all(s_.column_taps); ++j) {
        const Dims place{n, c, rows_.place(i, y), columns_.place(j, x)};
        int64_t at = 0;
        for (int d = 0; d < 4; ++d) at += place[d] * step_.steps[d];
        row += columns_.weight(j, x) * input_[static_cast<size_t>(at)];
      }
      total += rows_.weight(i, y) * row;
    }
    return total;
  }

  void expect_right(const float* out) const {
    const program::Access& whole = step_.outputs[0];
    const bool inner = s_.channels_inner;
    for (int64_t n = 0; n < s_.images; ++n)
      for (int64_t c = 0; c < s_.channels; ++c)
        for (int64_t y = 0; y < rows_.to; ++y)
          for (int64_t x = 0; x < columns_.to; ++x) {
            const int64_t at =
                n * whole.outer[0] +
                (inner ? y * whole.outer[1] + x * whole.outer[2] + c
                       : c * whole.outer[1] + y * whole.outer[2] + x);
            const double total =
                sum(n, c, y, x) + residual_[static_cast<size_t>(at)];
            if (std::isnan(total)) {
              ASSERT_TRUE(std::isnan(out[at])) << n << c << y << x;
            } else {
              ASSERT_NEAR(out[at], std::max(total, 0.0), 1e-4)
                  << n << " " << c << " " << y << " " << x;
            }
          }
  }

  Sizes s_;
  Table rows_, columns_;
  ResampleStep step_;
  std::vector<float> input_, residual_;
};

class Resampling : public ::testing::TestWithParam<CpuLevel> {};

void expect_right(const Sizes& sizes, CpuLevel level, int threads,
                  uint32_t seed, bool with_nan = false) {
  SCOPED_TRACE(::testing::Message()
               << sizes.images << " x " << sizes.channels << " x "
               << sizes.height << " x " << sizes.width << " to " << sizes.rows
               << " x " << sizes.columns << " taps " << sizes.row_taps << ", "
               << sizes.column_taps << " jitter " << sizes.jitter << " gap "
               << sizes.gap
               << (sizes.channels_inner ? ", channels inner" : ", planes"));
  std::mt19937 random(seed);
  Problem problem(sizes, level, random);
  if (with_nan)
    problem.input()[problem.input().size() / 2] =
        std::numeric_limits<float>::quiet_NaN();
  problem.run(level, threads);
}

TEST_P(Resampling, OfLayersOfNets) {
  for (bool inner : {false, true})
    for (int threads : {1, 8}) {
      // Linear, cubic, nearest; to twice and to half of the size; rows alone.
      expect_right({1, 12, 28, 28, 56, 56, 2, 2, true, inner}, GetParam(),
                   threads, 1);
      expect_right({2, 5, 14, 17, 28, 34, 4, 4, true, inner}, GetParam(),
                   threads, 2);
      expect_right({1, 24, 14, 14, 28, 28, 1, 1, false, inner}, GetParam(),
                   threads, 3);
      expect_right({1, 9, 40, 64, 20, 32, 2, 2, true, inner}, GetParam(),
                   threads, 4);
      expect_right({1, 9, 24, 40, 5, 8, 2, 2, true, inner}, GetParam(), threads,
                   5);
      expect_right({1, 9, 10, 30, 15, 30, 2, 0, true, inner}, GetParam(),
                   threads, 6);
    }
}

// Each element is some neighbours in a row and some rows.
TEST_P(Resampling, OfWholeFactors) {
  for (int threads : {1, 8})
    for (int64_t gap : {0, 3}) {
      const auto sized = [&](int64_t width, int64_t rows, int64_t columns) {
        expect_right({2, 3, 9, width, 9 * rows, width * columns, 1, 1, false,
                      false, 0, gap},
                     GetParam(), threads, 1);
      };
      sized(56, 2, 2), sized(19, 2, 2), sized(16, 1, 4), sized(21, 4, 8);
      sized(17, 3, 2), sized(20, 2, 3), sized(3, 2, 2), sized(20, 2, 16);
    }
}

// Rows of a block of channels are held.
TEST_P(Resampling, OfManyChannels) {
  expect_right({1, 203, 3, 90, 5, 180, 2, 2, true, true}, GetParam(), 1, 1);
}

TEST_P(Resampling, OfRandomSizes) {
  std::mt19937 random(7);
  const auto of = [&](std::initializer_list<int64_t> numbers) {
    return numbers.begin()[random() % numbers.size()];
  };
  for (uint32_t seed = 0; seed < 24; ++seed) {
    Sizes sizes{of({1, 2}),
                of({1, 2, 3, 4, 7, 8, 9, 16, 21}),
                of({1, 2, 5, 13}),
                of({1, 3, 7, 8, 9, 15, 16, 33}),
                of({1, 2, 6, 17}),
                of({1, 4, 7, 8, 9, 16, 31}),
                of({1, 2, 3, 4}),
                of({0, 1, 2, 4}),
                true,
                of({0, 1}) == 1,
                of({0, 0, 1, 6}),
                of({0, 3})};
    if (of({0, 1, 2}) == 0)
      sizes.weighted = false, sizes.row_taps = 1,
      sizes.column_taps = std::min<int64_t>(sizes.column_taps, 1);
    expect_right(sizes, GetParam(), static_cast<int>(of({1, 2, 8})), seed,
                 seed % 3 == 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, Resampling,
                         ::testing::ValuesIn(testing::host_levels()),
                         testing::level_name);

}  // namespace TEST_FILE
}  // namespace fxjit::jit
