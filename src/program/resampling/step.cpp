#include "src/program/resampling/step.h"

#include <algorithm>
#include <bit>

#include "src/program/cost/body_work.h"
#include "src/support/machine/cache_line.h"
#include "src/support/machine/vector_lanes.h"
#include "src/support/rounding.h"

namespace fxjit::program {
namespace {

// Channels that fill no vector of the level take narrower ones.
int64_t lanes_along(const ResampleStep& step, CpuLevel level) {
  constexpr int64_t kLeastLanes = 4;
  int64_t lanes = support::vector_lanes(level);
  while (step.channels_inner && lanes > kLeastLanes && lanes > step.inner)
    lanes /= 2;
  return lanes;
}

ColumnReads column_reads(const ResampleStep& step) {
  const int64_t lanes = step.code.lanes;
  if (step.inner < lanes) return ColumnReads::gather;
  for (const auto& [reads, vectors] : {std::pair(ColumnReads::one_vector, 1),
                                       std::pair(ColumnReads::two_vectors, 2)})
    if (step.column_span <= vectors * lanes && step.sizes[1] >= vectors * lanes)
      return reads;
  return ColumnReads::gather;
}

// See ResampleForm::has_ring.
bool has_ring(const ResampleStep& step) {
  return step.column_taps > 0 && (step.row_taps > 1 || step.row_weights);
}

// Rows of the result that are made together.
int64_t rows_together(const ResampleStep& step) {
  return step.spreads_vectors() ? step.row_factor : 1;
}

// Rows of resized columns stay in the second-level cache: channels are cut into
// blocks where they would not.
void cut_channels(ResampleStep& step) {
  constexpr int64_t kRingFloats = int64_t{128} << 8;
  ResampleCode& code = step.code;
  code.channels_of_block = std::max<int64_t>(1, step.channels());
  if (!step.channels_inner || !has_ring(step)) return;
  const int64_t place = step.row_span * std::max<int64_t>(1, step.columns());
  const int64_t room =
      std::max(code.lanes, kRingFloats / place / code.lanes * code.lanes);
  code.channels_of_block = std::min(code.channels_of_block, room);
  code.channel_blocks = support::ceil_div(std::max<int64_t>(1, step.channels()),
                                          code.channels_of_block);
}

// Slices are whole tasks where that leaves enough for all threads.
void cut_rows(ResampleStep& step, int threads) {
  constexpr int64_t kTasksOfThread = 4;
  ResampleCode& code = step.code;
  const int64_t rows = std::max<int64_t>(1, step.rows());
  const int64_t slices = std::max<int64_t>(1, step.slices());
  const int64_t wanted =
      threads == 1 ? 1 : support::ceil_div(kTasksOfThread * threads, slices);
  code.rows_of_block =
      support::round_up(support::ceil_div(rows, wanted), rows_together(step));
  code.row_blocks = support::ceil_div(rows, code.rows_of_block);
}

double results_of(const ResampleStep& step) {
  return static_cast<double>(numel(step.outer) * step.inner);
}

}  // namespace

bool ResampleStep::spreads_vectors() const {
  return !channels_inner && column_factor > 1 &&
         std::has_single_bit(static_cast<uint64_t>(column_factor)) &&
         column_factor <= code.lanes && sizes[1] >= code.lanes &&
         row_taps == 1 && !row_weights;
}

int64_t ResampleStep::slices() const {
  return outer[0] * (channels_inner ? Size(code.channel_blocks) : outer[1]);
}

void ResampleStep::analyse(const Machine& machine) {
  code = {};
  code.lanes = lanes_along(*this, machine.level);
  code.reads = column_reads(*this);
  cut_channels(*this);
  cut_rows(*this, machine.threads);
  const int64_t vectors = support::ceil_div(inner, code.lanes);
  if (has_ring(*this))
    code.ring_row =
        channels_inner
            ? columns() * support::round_up(code.channels_of_block, code.lanes)
            : vectors * code.lanes;
  const bool has_table = !channels_inner && !spreads_vectors() &&
                         code.reads != ColumnReads::gather;
  const int64_t entries = has_table ? vectors * column_taps : 0;
  int64_t end = 0;
  const auto lay = [&](int64_t bytes) {
    const int64_t at = end;
    end = support::round_up(end + bytes, int64_t{support::kCacheLine});
    return at;
  };
  lay(row_span * code.ring_row * int64_t{sizeof(float)});
  code.held_at = lay(row_span * int64_t{sizeof(int64_t)});
  code.lanes_at = lay(entries * code.lanes * int64_t{sizeof(int32_t)});
  code.firsts_at = lay(entries * int64_t{sizeof(int64_t)});
  code.total = end;
}

StepPlan ResampleStep::plan(CpuLevel level) const {
  StepPlan plan;
  const double results = results_of(*this);
  plan.tasks = results == 0 ? 0 : slices() * code.row_blocks;
  plan.scratch_bytes = static_cast<size_t>(code.total);
  const double taps = static_cast<double>(row_taps + column_taps);
  plan.flops = results * (2 * taps + body_operations(epilogue, level));
  plan.grain = grain_of(
      2 * kGrainProducts,
      plan.flops / static_cast<double>(std::max<int64_t>(1, plan.tasks)));
  plan.bytes = static_cast<double>(outer[0] * channels() * numel(sizes)) *
                   static_cast<double>(dtype_size(dtype)) +
               touched_bytes(*this);
  return plan;
}

StepFacts ResampleStep::facts() const {
  return {{"images", std::to_string(outer[0])},
          {"channels", std::to_string(channels())},
          {"from", sizes.str()},
          {"to", Dims{rows(), columns()}.str()},
          {"taps", Dims{row_taps, column_taps}.str()}};
}

StepKernels<ResampleForm> ResampleStep::kernels(CpuLevel) const {
  std::vector<int64_t> arguments = loop_arguments(*this);
  const std::vector<int64_t> numbers = resample_numbers(*this);
  arguments.insert(arguments.end(), numbers.begin(), numbers.end());
  return {{resample_form(*this)}, code_with(std::move(arguments))};
}

}  // namespace fxjit::program
