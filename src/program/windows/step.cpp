#include "src/program/windows/step.h"

#include <algorithm>

#include "src/program/cost/body_work.h"
#include "src/support/machine/cache_line.h"
#include "src/support/rounding.h"
#include "src/weights/panels.h"

namespace fxjit::program {
namespace {

// Epilogues whose body_cost is more are a loop of their own over sums that
// wait in the first-level cache: their constants stay in registers.
constexpr double kInlineCost = 6;
// Planes of more bytes are read and written from beyond the second-level cache,
// where few streams at a time do better.
constexpr int64_t kLargePlane = int64_t{48} << 10;

int64_t rows_at_once(const WindowStep& step) {
  const int64_t plane = step.sizes[1] * step.sizes[2] * 4;
  int64_t rows = 2;
  if (!holds_weights(step.tap_count()))
    rows = 4;
  else if (plane > kLargePlane)
    rows = 1;
  while (rows > step.outer[3]) rows /= 2;
  return std::max<int64_t>(1, rows);
}

double combines(const WindowStep& step) {
  return static_cast<double>(numel(step.outer) * step.inner * step.tap_count());
}

// Planes are whole tasks where that leaves enough for all threads.
void cut_planes(WindowStep& step, int threads) {
  constexpr int64_t kTasksOfThread = 4;
  WindowCode& code = step.code;
  const int64_t rows = step.outer[3];
  const int64_t planes =
      std::max<int64_t>(1, numel(step.outer) / std::max<int64_t>(1, rows));
  const int64_t wanted =
      threads == 1 ? 1 : support::ceil_div(kTasksOfThread * threads, planes);
  code.rows_of_block = support::round_up(
      support::ceil_div(std::max<int64_t>(1, rows), wanted), code.rows);
  code.row_blocks = std::max<int64_t>(1, rows / code.rows_of_block);
}

}  // namespace

void WindowStep::analyse(const Machine& machine) {
  code = {};
  code.lanes = weights::tile_shape(machine.level).lanes;
  code.rows = rows_at_once(*this);
  const bool held = !has_weights() || holds_weights(tap_count());
  code.vectors = held || inner < 2 * code.lanes ? 1 : 2;
  code.has_strip = body_cost(epilogue) > kInlineCost;
  code.fetches_ahead = sizes[1] * sizes[2] * 4 > kLargePlane;
  cut_planes(*this, machine.threads);
  constexpr int64_t kLine = support::kLineFloats;
  code.weights_at = support::round_up(sizes[2], kLine);
  code.strip_at = code.weights_at + (held ? 0 : tap_count() * code.lanes);
  code.strip_at = support::round_up(code.strip_at, kLine);
  const int64_t pitch = support::round_up(inner, code.lanes);
  code.total = code.strip_at + (code.has_strip ? code.rows * pitch : 0);
}

StepPlan WindowStep::plan(CpuLevel level) const {
  StepPlan plan;
  const auto results = static_cast<double>(numel(outer) * inner);
  plan.tasks = results == 0 ? 0 : numel(outer) / outer[3] * code.row_blocks;
  plan.scratch_bytes = static_cast<size_t>(code.total) * sizeof(float);
  const double operations = (has_weights() ? 2 : 1) * combines(*this) +
                            results * body_operations(epilogue, level);
  plan.flops = operations;
  plan.grain = grain_of(
      2 * kGrainProducts,
      operations / static_cast<double>(std::max<int64_t>(1, plan.tasks)));
  const double read = static_cast<double>(outer[0] * outer[1] / multiplier) *
                      static_cast<double>(numel(sizes));
  const double held =
      has_weights() ? static_cast<double>(outer[1] * tap_count()) : 0;
  plan.bytes = 4 * (read + held) + touched_bytes(*this);
  return plan;
}

StepFacts WindowStep::facts() const {
  return {{"images", std::to_string(outer[0])},
          {"channels", std::to_string(outer[1])},
          {"places", Dims{outer[2], outer[3], inner}.str()},
          {"window", taps.str()},
          {"strides", strides.str()}};
}

StepKernels<WindowForm> WindowStep::kernels(CpuLevel) const {
  std::vector<int64_t> arguments = loop_arguments(*this);
  const std::vector<int64_t> numbers = window_numbers(*this);
  arguments.insert(arguments.end(), numbers.begin(), numbers.end());
  return {{window_form(*this)}, code_with(std::move(arguments))};
}

}  // namespace fxjit::program
