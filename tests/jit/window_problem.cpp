#include "tests/jit/window_problem.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "jit/emit/kernel_function.h"
#include "jit/emit/skeletons.h"
#include "jit/engine/compiler.h"
#include "jit/engine/ir_module.h"
#include "src/support/rounding.h"
#include "src/weights/windows.h"
#include "tests/jit/build_ir.h"
#include "tests/jit/emulated.h"
#include "tests/jit/guarded_floats.h"

namespace fxjit::jit::testing {
namespace {

using program::WindowCombine;
using program::WindowStep;
using support::GuardedBytes;

program::Access access_of(Dims outer, int64_t inner) {
  program::Access access;
  access.outer = std::move(outer);
  access.inner = inner;
  return access;
}

}  // namespace

std::optional<WindowStep> make_window(const WindowSizes& sizes,
                                      bool with_silu) {
  WindowStep step;
  step.combine = sizes.combine;
  step.has_bias = sizes.has_bias;
  step.multiplier = sizes.multiplier;
  step.group_channels = sizes.group_channels;
  // Those of all results, or of the vectors of groups of few.
  constexpr int64_t kLine = 16;
  step.weight_block = sizes.channels * sizes.multiplier;
  if (step.weight_block % kLine == 0 && kLine % sizes.multiplier == 0)
    step.weight_block = kLine;
  else if (sizes.channels % 2 == 0 && step.weight_block >= 2 * kLine)
    step.weight_block /= 2;
  step.sizes = sizes.sizes, step.taps = sizes.taps;
  step.strides = sizes.strides, step.dilations = sizes.dilations;
  step.pads = sizes.pads;
  Dims places;
  for (int d = 0; d < 3; ++d) {
    const int64_t room = step.sizes[d] + 2 * step.pads[d] -
                         (step.taps[d] - 1) * step.dilations[d] - 1;
    if (room < 0) return {};
    places.push_back(room / step.strides[d] + 1);
  }
  const int64_t results = sizes.channels * sizes.multiplier;
  step.channels_inner = sizes.channels_inner;
  Dims whole, each;  // Strides of n, o, z, y and x.
  if (sizes.channels_inner) {
    step.outer = {sizes.images, places[0], places[1], places[2]};
    step.inner = results;
    whole = {numel(places) * results, places[1] * places[2] * results,
             places[2] * results, results};
    each = {results, 0, 0, 0};
  } else {
    step.outer = {sizes.images, results, places[0], places[1]};
    step.inner = places[2];
    whole = {results * numel(places), numel(places), places[1] * places[2],
             places[2]};
    each = {results, 1, 0, 0};
  }
  step.inputs = {access_of(each, sizes.channels_inner ? 1 : 0),
                 access_of(whole, 1)};
  step.outputs = {access_of(whole, 1), access_of(whole, 1)};
  ScalarBuilder body;
  const Scalar sum = body.input(0, DType::f32);
  const Scalar total =
      sum * body.input(1, DType::f32) + body.input(2, DType::f32);
  step.epilogue =
      body.finish({with_silu ? body.apply(Prim::silu, total)
                             : body.apply(Prim::maximum, total,
                                          body.constant(0, DType::f32)),
                   sum});
  return step;
}

WindowProblem::WindowProblem(WindowStep step, int64_t gap, uint32_t seed,
                             bool planes)
    : step_(std::move(step)) {
  const int64_t summed = step_.depth() / step_.tap_count();
  const int64_t channels = step_.channels() / step_.multiplier * summed;
  int64_t last = 0;
  step_.steps = Dims(5, 0);
  const auto lay = [&](int dim, int64_t size, int64_t step) {
    step_.steps[dim] = step;
    last += (size - 1) * step;
    return size * step + gap;
  };
  const bool inner = step_.channels_inner && !planes;
  int64_t next = inner ? lay(1, channels, 1) : 1;
  for (int d = 2; d >= 0; --d) next = lay(2 + d, step_.sizes[d], next);
  if (!inner) next = lay(1, channels, next);
  lay(0, step_.outer[0], next);
  // The last element is the input's own.
  input_ = randoms(std::max<int64_t>(last, 0) + 1, seed);
  weights_ = randoms(step_.channels() * step_.depth(), seed + 1);
  bias_ = randoms(step_.channels(), seed + 2);
  each_ = randoms(step_.outer[0] * step_.channels(), seed + 3);
  residual_ = randoms(numel(step_.outer) * step_.inner, seed + 4);
}

void WindowProblem::run(CpuLevel level, int threads) {
  step_.packs_weights = step_.has_weights() && threads > 1;
  step_.analyse(program::Machine{.level = level, .threads = threads});
  EngineOptions options;
  options.cpu_level = level;
  IrModule module = make_ir_module("window");
  VectorBuilder b(*make_function<program::KernelFn>(*module.module, "kernel"),
                  level);
  emit(b, program::window_form(step_));
  const auto code = build(Compiler(options), std::move(module));
  const Kernel kernel = runnable(
      level, code->function<void(const program::StepCall*, int64_t, int64_t)>(
                 "kernel"));
  run(kernel, level, GuardedBytes::Tight::begin);
  run(kernel, level, GuardedBytes::Tight::end);
}

void WindowProblem::run(Kernel kernel, CpuLevel level,
                        GuardedBytes::Tight tight) {
  const program::StepPlan plan = step_.plan(level);
  const GuardedBytes input(bytes_of(input_), tight);
  const std::vector<float> given =
      step_.packs_weights ? packed_weights() : weights_;
  const GuardedBytes weights(bytes_of(given), tight);
  const GuardedBytes bias(bytes_of(bias_), tight);
  const GuardedBytes each(bytes_of(each_), tight);
  const GuardedBytes residual(bytes_of(residual_), tight);
  const std::vector<float> empty(residual_.size(), kCanary);
  const GuardedBytes out(bytes_of(empty), tight), sum(bytes_of(empty), tight);
  const std::vector<float> unwritten(
      support::round_up(plan.scratch_bytes, size_t{64}) / sizeof(float),
      kCanary);
  const GuardedBytes scratch(bytes_of(unwritten), tight);
  std::vector<void*> operands{input.data()};
  if (step_.has_weights()) operands.push_back(weights.data());
  if (step_.has_bias) operands.push_back(bias.data());
  for (const GuardedBytes* block : {&each, &residual, &out, &sum})
    operands.push_back(block->data());
  int32_t status = 0;
  std::vector<int64_t> numbers = program::loop_arguments(step_);
  const std::vector<int64_t> more = program::window_numbers(step_);
  numbers.insert(numbers.end(), more.begin(), more.end());
  const program::StepCall call{operands.data(), scratch.data(), &status,
                               numbers.data()};
  for (int64_t first = 0, count = 1; first < plan.tasks; first += count++)
    kernel(&call, first, std::min(first + count, plan.tasks));
  out_ = floats_of(out);
  sum_ = floats_of(sum);
}

std::vector<float> WindowProblem::packed_weights() const {
  std::vector<float> filters = weights_;
  const int64_t results = step_.channels(), taps = step_.tap_count();
  if (step_.channels_inner && !step_.sums_groups())
    for (int64_t i = 0; i < results * taps; ++i)
      filters[static_cast<size_t>(i)] =
          static_cast<float>(weight(i / taps, 0, i % taps));
  const weights::WindowLayout layout{true, step_.packed_lanes()};
  std::vector<float> packed(static_cast<size_t>(
      weights::window_elements(results, step_.depth(), layout)));
  weights::pack_windows(filters, results, layout, packed.data());
  return packed;
}

// Of image, channel of the result, depth, height, width; none outside.
std::optional<double> WindowProblem::element(const Dims& place, int64_t channel,
                                             const Dims& tap) const {
  int64_t at = place[0] * step_.steps[0] + channel * step_.steps[1];
  for (int d = 0; d < 3; ++d) {
    const int64_t i = place[2 + d] * step_.strides[d] +
                      tap[d] * step_.dilations[d] - step_.pads[d];
    if (i < 0 || i >= step_.sizes[d]) return {};
    at += i * step_.steps[2 + d];
  }
  return input_[static_cast<size_t>(at)];
}

double WindowProblem::weight(int64_t result, int64_t channel,
                             int64_t tap) const {
  if (!step_.has_weights()) return 1;
  int64_t at = result * step_.tap_count() + tap;
  if (step_.sums_groups()) {
    const int64_t block = step_.weight_block;
    const int64_t width = step_.taps[2];
    const int64_t row =
        (tap / width * step_.group_channels + channel) * width + tap % width;
    at = (result / block * step_.depth() + row) * block + result % block;
  } else if (step_.channels_inner) {
    at = tap * step_.channels() + result;
  }
  return weights_[static_cast<size_t>(at)];
}

double WindowProblem::expected(const Dims& place) const {
  const bool greatest = step_.combine == WindowCombine::maximum;
  double result = greatest ? -std::numeric_limits<double>::infinity() : 0;
  if (step_.has_bias) result = bias_[static_cast<size_t>(place[1])];
  const int64_t summed = step_.depth() / step_.tap_count();
  const int64_t first = place[1] / step_.multiplier * summed;
  int64_t tap = 0;
  for (int64_t z = 0; z < step_.taps[0]; ++z)
    for (int64_t y = 0; y < step_.taps[1]; ++y)
      for (int64_t x = 0; x < step_.taps[2]; ++x, ++tap)
        for (int64_t c = 0; c < summed; ++c) {
          const auto value = element(place, first + c, {z, y, x});
          if (!value) continue;
          if (!greatest)
            result += *value * weight(place[1], c, tap);
          else if (!std::isnan(result))
            result = *value > result || std::isnan(*value) ? *value : result;
        }
  return result;
}

Dims WindowProblem::place_of(size_t i) const {
  Dims domain = step_.outer, place(5, 0);
  domain.push_back(step_.inner);
  auto rest = static_cast<int64_t>(i);
  for (int d = 4; d >= 0; --d) {
    place[d] = rest % domain[d];
    rest /= domain[d];
  }
  if (!step_.channels_inner) return place;
  return {place[0], place[4], place[1], place[2], place[3]};
}

void WindowProblem::expect_right() const {
  const bool with_silu = step_.epilogue.instrs.back().prim == Prim::silu;
  for (size_t i = 0; i < out_.size(); ++i) {
    const Dims place = place_of(i);
    const double sum = expected(place);
    const double tolerance = 2e-6 * static_cast<double>(step_.depth()) + 1e-5;
    const auto near = [&](float got, double want) {
      if (!std::isfinite(want))
        return std::isnan(want) ? std::isnan(got) : got == want;
      return std::abs(got - want) <= tolerance * (1 + std::abs(want));
    };
    ASSERT_TRUE(near(sum_[i], sum))
        << place.str() << ": " << sum_[i] << ", " << sum;
    const size_t each =
        static_cast<size_t>(place[0] * step_.channels() + place[1]);
    const double total = sum * double{each_[each]} + residual_[i];
    const double made = with_silu   ? total / (1 + std::exp(-total))
                        : total < 0 ? 0
                                    : total;
    ASSERT_TRUE(near(out_[i], made))
        << place.str() << ": " << out_[i] << ", " << made;
  }
}

}  // namespace fxjit::jit::testing
