#include "src/program/integers/step.h"

#include <algorithm>
#include <memory>

#include "src/program/cost/body_work.h"
#include "src/program/integers/run.h"
#include "src/support/machine/vector_lanes.h"
#include "src/support/rounding.h"

namespace fxjit::program {
namespace {

using support::ceil_div;
using support::round_up;

// Weights of a task stay in the second-level cache while rows go by.
constexpr int64_t kBlockBytes = 160 << 10;
// Whole vectors of every level.
constexpr int64_t kColumnMultiple = 16;
// Products of 8 bits are so many times faster than those of f32.
constexpr double kFasterThanFloats = 1.5;

}  // namespace

int64_t IntegerStep::depth_bytes() const {
  return depth * static_cast<int64_t>(dtype_size(lhs));
}

int64_t IntegerStep::row_tiles() const { return ceil_div(rows, tile_rows); }

int64_t IntegerStep::column_blocks() const {
  return ceil_div(columns, block_columns);
}

// Unclipped weights take an instruction for whole quads, or rows that are split
// into magnitudes and signs.
QuadSums IntegerStep::adds() const {
  if (lhs == DType::i16) return QuadSums::shorts;
  if (weights == weights::Format::tiles) return QuadSums::tiles;
  if (weights != weights::Format::quads) return QuadSums::clipped;
  return has_dots ? QuadSums::dot : QuadSums::signs;
}

int IntegerStep::lanes(CpuLevel level) const {
  return adds() == QuadSums::tiles ? int{weights::kTileRows}
                                   : support::vector_lanes(level);
}

void IntegerStep::analyse(const Machine& machine) {
  const int lanes = this->lanes(machine.level);
  tile_rows = has_single_rows(lanes) ? 1 : rows > lanes ? 2 * lanes : lanes;
  const int64_t bytes = round_up(std::max<int64_t>(depth_bytes(), 1), 16);
  int64_t blocks = rows == 1 ? 1 : ceil_div(columns * bytes, kBlockBytes);
  const int64_t wanted = machine.threads > 1 ? 2 * machine.threads : 1;
  blocks = std::max(
      blocks, ceil_div(wanted, std::max<int64_t>(1, batch * row_tiles())));
  block_columns = std::max<int64_t>(
      kColumnMultiple, round_up(ceil_div(columns, std::max<int64_t>(1, blocks)),
                                kColumnMultiple));
}

StepPlan IntegerStep::plan(CpuLevel level) const {
  StepPlan plan;
  plan.tasks =
      rows == 0 || columns == 0 ? 0 : batch * row_tiles() * column_blocks();
  const auto sums = static_cast<double>(batch * rows * columns);
  const double products = sums * static_cast<double>(depth);
  const double each =
      products / static_cast<double>(std::max<int64_t>(1, plan.tasks));
  const double row_bytes = each * static_cast<double>(dtype_size(lhs)) /
                           static_cast<double>(std::max<int64_t>(1, rows));
  plan.grain = rows <= 2 ? grain_of(kGrainBytes, row_bytes)
                         : grain_of(kGrainProducts * kFasterThanFloats, each);
  plan.flops = 2 * products + sums * body_operations(epilogue, level);
  plan.bytes =
      static_cast<double>((batch * rows + (rhs_batched ? batch : 1) * columns) *
                          depth_bytes()) +
      epilogue_bytes(static_cast<double>(batch), static_cast<double>(rows),
                     static_cast<double>(columns));
  plan.scratch_bytes =
      static_cast<size_t>(IntegerScratch(*this, lanes(level)).bytes);
  return plan;
}

StepFacts IntegerStep::facts() const {
  return {
      {"batch", std::to_string(batch)},
      {"rows", std::to_string(rows)},
      {"columns", std::to_string(columns)},
      {"depth", std::to_string(depth)},
      {"weights", lhs == DType::i16 ? "pairs" : weights::format_name(weights)},
      {"extra operands", std::to_string(extras.size())}};
}

StepKernels<IntegerForm> IntegerStep::kernels(CpuLevel level) const {
  const auto run = std::make_shared<IntegerRun>(*this, level);
  return {run->forms(), [run](std::span<const IntegerFn> code) {
            run->set_code(code);
            return StepCode{
                [](const StepCall* call, int64_t begin, int64_t end) {
                  static_cast<const IntegerRun*>(call->data)
                      ->run(*call, begin, end);
                },
                run, nullptr};
          }};
}

std::string form_key(const IntegerForm& form) {
  constexpr const char* kNames[] = {" shorts ", " ", " dot ", " signs ",
                                    " tiles "};
  return "integer_tile " + std::to_string(form.vectors) +
         kNames[static_cast<size_t>(form.adds)] + std::to_string(form.group) +
         (form.has_starts ? " starts" : "") +
         (form.is_signed ? " signed" : "") + form.epilogue_key();
}

}  // namespace fxjit::program
