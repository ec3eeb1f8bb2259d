#include "src/program/windows/step.h"

#include <algorithm>

#include "src/program/cost/body_work.h"
#include "src/program/windows/tiles.h"
#include "src/support/machine/cache_line.h"
#include "src/support/machine/vector_lanes.h"
#include "src/support/rounding.h"

namespace fxjit::program {
namespace {

// Over planes, epilogues whose body_cost is more are a loop of their own over
// sums that wait in the first-level cache: their constants stay in registers,
// which weights fill else.
constexpr double kInlineCost = 6;
double combines(const WindowStep& step) {
  return static_cast<double>(numel(step.outer) * step.inner * step.depth());
}

// Slices are whole tasks where that leaves enough for all threads.
void cut_slices(WindowStep& step, int threads) {
  constexpr int64_t kTasksOfThread = 4;
  WindowCode& code = step.code;
  const int64_t rows = std::max<int64_t>(1, step.rows());
  const int64_t slices = std::max<int64_t>(1, step.slices());
  const int64_t wanted =
      threads == 1 ? 1 : support::ceil_div(kTasksOfThread * threads, slices);
  code.rows_of_block =
      support::round_up(support::ceil_div(rows, wanted), code.rows);
  code.row_blocks = std::max<int64_t>(1, rows / code.rows_of_block);
}

// Channels that fill no vector of the level take narrower ones.
int64_t lanes_of(const WindowStep& step, CpuLevel level) {
  constexpr int64_t kLeastLanes = 4;
  int64_t lanes = support::vector_lanes(level);
  while (step.channels_inner && lanes > kLeastLanes && lanes > step.inner)
    lanes /= 2;
  return lanes;
}

// How many groups a vector of results may have.
int64_t groups_of_vector(const WindowStep& step, int64_t lanes) {
  const int64_t results = step.multiplier;
  if (step.inner == results || !step.has_dense_channels()) return 1;
  if (results < lanes) return support::ceil_div(lanes, results);
  // Vectors of one group each, of which the last one overlaps the one before,
  // compute some results twice.
  constexpr double kWorth = 0.7;
  const auto computed = static_cast<double>(support::round_up(results, lanes));
  return static_cast<double>(results) < kWorth * computed ? 2 : 1;
}

// Lanes and groups of vectors of windows that sum the channels of groups. More
// groups than kMost take longer than two vectors unless a permutation does.
void fit_groups(WindowStep& step) {
  constexpr int64_t kMost = 4, kLeastLanes = 4;
  if (!step.sums_groups()) return;
  WindowCode& code = step.code;
  const auto too_many = [&] {
    if (code.groups == 1) return code.lanes > step.multiplier;
    return code.groups > kMost && !step.is_spread();
  };
  code.groups = groups_of_vector(step, code.lanes);
  while (code.lanes > kLeastLanes && too_many()) {
    code.lanes /= 2;
    code.groups = groups_of_vector(step, code.lanes);
  }
}

// Planes are turned under many taps, and where rows have few vectors, most of
// which need masks.
bool has_ring(const WindowStep& step) {
  const int64_t lanes = step.code.lanes;
  const bool pays = step.tap_count() >= passes::kLeastTurnedTaps ||
                    step.columns() < 2 * lanes;
  return pays && !step.channels_inner && step.has_weights() &&
         step.taps[0] == 1 && step.outer[2] == 1 && step.multiplier == 1 &&
         step.channels() >= lanes && step.sizes[2] >= lanes &&
         step.columns() >= lanes;
}

// What a row of windows reaches of padding and input, in all lanes.
int64_t ring_row(const WindowStep& step) {
  const int64_t reach = (step.columns() - 1) * step.strides[2] +
                        (step.taps[2] - 1) * step.dilations[2] + 1;
  return std::max<int64_t>(reach, step.pads[2] + step.sizes[2]) *
         step.code.lanes;
}

// Zeros for what lies outside the input, and what is turned.
int64_t zeros_floats(const WindowStep& step) {
  const int64_t rows = (step.taps[1] - 1) * step.dilations[1] + 2;
  if (step.code.has_ring) return rows * step.code.ring_row;
  if (step.sums_groups())
    return std::max(step.code.lanes, step.code.groups * step.group_channels);
  return step.channels_inner ? Size(step.inner) : step.sizes[2];
}

// Weights that wait in scratch: of all channels, or of planes, each in all
// lanes or of so many planes.
int64_t table_floats(const WindowStep& step) {
  if (!step.has_weights() || step.sums_groups()) return 0;
  if (step.packs_weights && step.packed_lanes() != 0) return 0;
  if (step.channels_inner)
    return step.tap_count() * support::round_up(step.inner, step.code.lanes);
  const bool held = !step.code.has_ring && holds_weights(step.tap_count());
  return held ? 0 : step.tap_count() * step.code.lanes;
}

// Windows that sum channels fetch the next row of an image which exceeds the
// second-level cache: tiles read it in pieces, which processors do not foresee.
bool fetches_channels(const WindowStep& step) {
  constexpr int64_t kLarge = int64_t{256} << 10;
  const int64_t channels = step.inner / step.multiplier * step.group_channels;
  return step.has_dense_channels() && channels == step.inner &&
         step.steps[4] == channels && step.taps[0] == 1 &&
         step.strides[1] == step.strides[2] &&
         step.sizes[1] * step.sizes[2] * channels * int64_t{sizeof(float)} >
             kLarge;
}

}  // namespace

int64_t WindowStep::slices() const {
  if (channels_inner) return outer[0] * outer[1];
  if (!code.has_ring) return outer[0] * outer[1] * outer[2];
  return outer[0] * support::ceil_div(outer[1], code.lanes);
}

void WindowStep::analyse(const Machine& machine) {
  code = {};
  code.lanes = lanes_of(*this, machine.level);
  fit_groups(*this);
  code.has_ring = has_ring(*this);
  code.ring_row = code.has_ring ? ring_row(*this) : 0;
  if (!code.has_ring) {
    const WindowTile tile = window_tile(*this, machine.level);
    code.rows = tile.rows;
    code.across = tile.across;
    code.vectors = tile.vectors;
  }
  code.has_strip =
      !channels_inner && !code.has_ring && body_cost(epilogue) > kInlineCost;
  const bool has_plane = !channels_inner && !code.has_ring;
  code.fetches_ahead = sums_groups() ? fetches_channels(*this)
                                     : has_plane && is_large_plane(*this);
  cut_slices(*this, machine.threads);
  constexpr int64_t kLine = support::kLineFloats;
  code.weights_at = support::round_up(zeros_floats(*this), kLine);
  code.strip_at =
      support::round_up(code.weights_at + table_floats(*this), kLine);
  const int64_t waiting =
      code.has_ring ? code.lanes : int64_t{code.has_strip} * code.rows;
  code.total = code.strip_at + waiting * support::round_up(inner, code.lanes);
}

StepPlan WindowStep::plan(CpuLevel level) const {
  StepPlan plan;
  const auto results = static_cast<double>(numel(outer) * inner);
  plan.tasks = results == 0 ? 0 : slices() * code.row_blocks;
  plan.scratch_bytes = static_cast<size_t>(code.total) * sizeof(float);
  const double operations = (has_weights() ? 2 : 1) * combines(*this) +
                            results * body_operations(epilogue, level);
  plan.flops = operations;
  plan.grain = grain_of(
      2 * kGrainProducts,
      operations / static_cast<double>(std::max<int64_t>(1, plan.tasks)));
  const int64_t groups = channels() / multiplier;
  const double read = static_cast<double>(outer[0] * groups) *
                      static_cast<double>(depth() / tap_count()) *
                      static_cast<double>(numel(sizes));
  const double held =
      has_weights() ? static_cast<double>(channels() * depth()) : 0;
  plan.bytes = static_cast<double>(dtype_size(input)) * read + 4 * held +
               touched_bytes(*this);
  return plan;
}

StepFacts WindowStep::facts() const {
  return {
      {"images", std::to_string(outer[0])},
      {"channels", std::to_string(channels())},
      {"places", Dims{outer[channels_inner ? 1 : 2], rows(), columns()}.str()},
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
