#include "src/program/tiles/step.h"

#include <algorithm>

#include "src/program/cost/body_work.h"
#include "src/program/tiles/run.h"

namespace fxjit::program {
namespace {

// With at least this many groups of panels, threads divide them alone, so that
// each group is packed once.
constexpr int64_t kManyGroups = 8;

double real(int64_t number) { return static_cast<double>(number); }

int64_t grain_in(const TileStep& step, double row_bytes, double each) {
  return step.rows <= 2 ? grain_of(kGrainBytes, row_bytes * real(step.depth))
                        : grain_of(kGrainProducts, each);
}

}  // namespace

void TileStep::analyse(const Machine& machine) {
  cut = tile_cut(*this, weights::register_tile(machine.level));
}

StepPlan TileStep::plan(CpuLevel level) const {
  StepPlan plan;
  const weights::RegisterTile shape = weights::register_tile(level);
  plan.tasks = batch * cut.groups() * cut.blocks();
  const double sums = real(batch) * real(rows) * real(columns);
  const double products = sums * real(depth);
  const double row_bytes =
      real(panel_bytes(shape.width())) / real(std::max<int64_t>(1, depth));
  plan.grain = grain_in(*this, row_bytes,
                        products / real(std::max<int64_t>(1, plan.tasks)));
  if (makes_panels()) {
    plan.scratch_bytes = static_cast<size_t>(
        cut.group * weights::packed_depth(depth) * shape.width() * 4);
    if (batch * cut.groups() >= kManyGroups) plan.together = cut.blocks();
  }
  if (has_window())
    plan.scratch_bytes =
        static_cast<size_t>(cut.most_rows() * window.tap_count()) *
        sizeof(const float*);
  plan.flops = 2 * products + sums * body_operations(epilogue, level);
  plan.bytes = 4.0 * lhs_elements() +
               (rhs_batched ? real(batch) : 1) * real(depth) * real(columns) *
                   row_bytes / real(shape.width()) +
               epilogue_bytes(real(batch), real(rows), real(columns));
  return plan;
}

// Where rows are more than one tile, each of which would decode a panel anew.
// Scales are applied to numbers then and not to sums of a block, so that sums
// would depend on the number of rows.
bool TileStep::decodes() const {
  return has_blocks() && !strict && rows > weights::RegisterTile::max_rows;
}

int64_t TileStep::panel_bytes(int64_t width) const {
  return has_blocks() ? blocks.panel_bytes(depth, width)
                      : weights::packed_depth(depth) *
                            weights::panel_row_bytes(weights, width);
}

double TileStep::lhs_elements() const {
  if (!has_window())
    return (lhs_batch != 0 ? real(batch) : 1) * real(rows) * real(depth);
  const int64_t places = window.places[0] * window.places[1] * window.places[2];
  return real(rows / std::max<int64_t>(1, places) * window.channels) *
         real(window.sizes[0] * window.sizes[1] * window.sizes[2]);
}

StepFacts TileStep::facts() const {
  return {{"batch", std::to_string(batch)},
          {"rows", std::to_string(rows)},
          {"columns", std::to_string(columns)},
          {"depth", std::to_string(depth)},
          {"weights", std::string(weights::format_name(weights))},
          {"extra operands", std::to_string(extras.size())}};
}

std::vector<InPlacePair> TileStep::in_place() const { return epilogue_pairs(); }

StepKernels<TileForm> TileStep::kernels(CpuLevel level) const {
  const auto run = std::make_shared<TileRun>(*this, level);
  return {run->forms(), [run](std::span<const TileFn> code) {
            run->set_code(code);
            return StepCode{run_tile_step, run, nullptr};
          }};
}

}  // namespace fxjit::program
