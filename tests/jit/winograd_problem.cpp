#include "tests/jit/winograd_problem.h"
#include "tests/jit/build_ir.h"
#include "tests/jit/emulated.h"
#include "tests/jit/guarded_floats.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include "jit/emit/kernel_function.h"
#include "jit/emit/skeletons.h"
#include "jit/engine/compiler.h"
#include "jit/engine/ir_module.h"
#include "src/program/steps/steps.h"
#include "src/program/winograd/form.h"
#include "src/program/winograd/shape.h"

namespace fxjit::jit::testing {
namespace {

using program::WinogradForm;
using program::WinogradStep;
using support::GuardedBytes;

// Whole cache lines, as weights and scratch are aligned to them.
std::vector<float> lines(int64_t elements, float fill) {
  return std::vector<float>(static_cast<size_t>(elements + 15) / 16 * 16, fill);
}

std::shared_ptr<CompiledCode> compile(const WinogradForm& form,
                                      CpuLevel level) {
  EngineOptions options;
  options.cpu_level = level;
  IrModule module = make_ir_module("winograd");
  VectorBuilder b(*make_function<program::KernelFn>(*module.module, "kernel"),
                  level);
  emit(b, form);
  return build(Compiler(options), std::move(module));
}

int64_t results_of(const WinogradStep& step) {
  return step.batch * step.out_height * step.out_width * step.features;
}

}  // namespace

WinogradStep make_winograd(const WinogradSizes& sizes, bool with_silu) {
  WinogradStep step;
  step.batch = sizes.batch;
  step.height = sizes.height;
  step.width = sizes.width;
  step.channels = sizes.channels;
  step.features = sizes.features;
  step.out_height = sizes.height + 2 * sizes.pad - 2;
  step.out_width = sizes.width + 2 * sizes.pad - 2;
  step.pad_top = step.pad_left = sizes.pad;
  step.input_column = sizes.channels;
  step.input_row = sizes.width * step.input_column;
  step.input_batch = sizes.height * step.input_row;
  step.tile = sizes.tile;
  const program::TileAccess whole{
      DType::f32, step.out_height * step.out_width * step.features,
      step.features, 1};
  step.extras = {{DType::f32, 0, 0, 1}, whole};
  step.outputs = {whole, whole};
  ScalarBuilder body;
  const Scalar sum = body.input(0, DType::f32);
  const Scalar total =
      sum + body.input(1, DType::f32) + body.input(2, DType::f32);
  step.epilogue =
      body.finish({with_silu ? body.apply(Prim::silu, total)
                             : body.apply(Prim::maximum, total,
                                          body.constant(0, DType::f32)),
                   sum});
  return step;
}

WinogradProblem::WinogradProblem(const WinogradStep& step) : step_(step) {
  input_ = randoms((step.batch - 1) * step.input_batch +
                       (step.height - 1) * step.input_row +
                       (step.width - 1) * step.input_column + step.channels,
                   1);
  bias_ = randoms(step.features, 2);
  residual_ = randoms(results_of(step), 3);
  out_.assign(static_cast<size_t>(results_of(step)), kCanary);
  sum_ = out_;
  std::mt19937 random(4);
  std::normal_distribution<float> value(
      0, std::sqrt(1.0f / static_cast<float>(9 * step.channels)));
  weights_.resize(static_cast<size_t>(step.features * step.channels * 9));
  for (float& weight : weights_) weight = value(random);
}

std::vector<float> WinogradProblem::packed(CpuLevel level) const {
  const weights::WinogradWeight weight{weights_.data(),
                                       step_.features,
                                       step_.channels,
                                       {step_.channels * 9, 9, 3, 1}};
  const weights::WinogradPanels panels =
      weights::winograd_panels(step_.features, step_.tile, level);
  std::vector<float> packed =
      lines(weights::winograd_elements(panels, step_.channels), 7);
  weights::pack_winograd(weight, step_.tile, level, packed.data());
  return packed;
}

void WinogradProblem::run(CpuLevel level, bool in_ranges) {
  step_.analyse(program::Machine{.level = level});
  const auto code = compile(program::winograd_form(step_), level);
  const Kernel kernel = runnable(
      level, code->function<void(const program::StepCall*, int64_t, int64_t)>(
                 "kernel"));
  run(kernel, level, in_ranges, GuardedBytes::Tight::begin);
  const std::vector<float> out = out_, sum = sum_;
  run(kernel, level, in_ranges, GuardedBytes::Tight::end);
  const auto same = [](const std::vector<float>& a,
                       const std::vector<float>& b) {
    return std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
  };
  EXPECT_TRUE(same(out, out_) && same(sum, sum_));
}

void WinogradProblem::run(Kernel kernel, CpuLevel level, bool in_ranges,
                          GuardedBytes::Tight tight) {
  const program::StepPlan plan = step_.plan(level);
  const GuardedBytes input(bytes_of(input_), tight);
  const GuardedBytes weights(bytes_of(packed(level)), tight);
  const GuardedBytes bias(bytes_of(bias_), tight);
  const GuardedBytes residual(bytes_of(residual_), tight);
  const GuardedBytes out(bytes_of(out_), tight), sum(bytes_of(sum_), tight);
  const std::vector<float> unwritten =
      lines(static_cast<int64_t>(plan.scratch_bytes / sizeof(float)), kCanary);
  const GuardedBytes scratch(bytes_of(unwritten), tight);
  void* operands[] = {input.data(),    weights.data(), bias.data(),
                      residual.data(), out.data(),     sum.data()};
  int32_t status = 0;
  const std::vector<int64_t> numbers = program::winograd_numbers(step_);
  const program::StepCall call{operands, scratch.data(), &status,
                               numbers.data()};
  if (in_ranges)
    for (int64_t first = 0, count = 1; first < plan.tasks; first += count++)
      kernel(&call, first, std::min(first + count, plan.tasks));
  else
    kernel(&call, 0, plan.tasks);
  out_ = floats_of(out);
  sum_ = floats_of(sum);
}

int64_t WinogradProblem::at(int64_t n, int64_t y, int64_t x, int64_t o) const {
  return ((n * step_.out_height + y) * step_.out_width + x) * step_.features +
         o;
}

float WinogradProblem::sum(int64_t n, int64_t y, int64_t x, int64_t o) const {
  return sum_[static_cast<size_t>(at(n, y, x, o))];
}

double WinogradProblem::expected(int64_t n, int64_t y, int64_t x,
                                 int64_t o) const {
  double sum = 0;
  for (int64_t r = 0; r < 3; ++r)
    for (int64_t s = 0; s < 3; ++s) {
      const int64_t iy = y + r - step_.pad_top, ix = x + s - step_.pad_left;
      if (iy < 0 || ix < 0 || iy >= step_.height || ix >= step_.width) continue;
      const float* pixel = input_.data() + n * step_.input_batch +
                           iy * step_.input_row + ix * step_.input_column;
      for (int64_t c = 0; c < step_.channels; ++c)
        sum +=
            double{pixel[c]} * weights_[static_cast<size_t>(
                                   ((o * step_.channels + c) * 3 + r) * 3 + s)];
    }
  return sum;
}

template <typename Visit>
void WinogradProblem::for_each(Visit visit) const {
  for (int64_t n = 0; n < step_.batch; ++n)
    for (int64_t y = 0; y < step_.out_height; ++y)
      for (int64_t x = 0; x < step_.out_width; ++x)
        for (int64_t o = 0; o < step_.features; ++o) visit(n, y, x, o);
}

WinogradErrors WinogradProblem::errors() const {
  double squares = 0, total = 0, max = 0;
  for_each([&](int64_t n, int64_t y, int64_t x, int64_t o) {
    const double want = expected(n, y, x, o);
    const double error = sum(n, y, x, o) - want;
    squares += error * error;
    total += want * want;
    max = std::max(max, std::abs(error));
  });
  const double scale =
      std::sqrt(total / static_cast<double>(results_of(step_)));
  return {std::sqrt(squares / total), max / scale};
}

void WinogradProblem::expect_right(double tolerance) const {
  const bool with_silu = step_.epilogue.instrs.back().prim == Prim::silu;
  for_each([&](int64_t n, int64_t y, int64_t x, int64_t o) {
    const auto place = static_cast<size_t>(at(n, y, x, o));
    const double want = expected(n, y, x, o);
    ASSERT_NEAR(sum(n, y, x, o), want, tolerance)
        << n << " " << y << " " << x << " " << o;
    const double total =
        want + bias_[static_cast<size_t>(o)] + residual_[place];
    ASSERT_NEAR(
        out_[place],
        with_silu ? total / (1 + std::exp(-total)) : std::max(0.0, total),
        2 * tolerance)
        << n << " " << y << " " << x << " " << o;
  });
}

}  // namespace fxjit::jit::testing
