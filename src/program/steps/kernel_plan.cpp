#include "src/program/steps/kernel_plan.h"

#include <algorithm>

#include "src/ops/table/prims.h"
#include "src/program/attention/attention_run.h"
#include "src/program/cost/limit_cost.h"
#include "src/program/rows/code.h"
#include "src/program/winograd/winograd.h"
#include "src/support/rounding.h"

namespace fxjit::program {
namespace {

using support::ceil_div;

// Work below this many elements is not worth a hand-over between threads.
constexpr int64_t kGrainElements = 4096;
// The same for a contraction, in multiply-adds: about 5 us of one core.
constexpr double kGrainProducts = 250e3;
// And in bytes of weights for products of one or two rows: about 1.2 us.
constexpr double kGrainBytes = 128 << 10;

// Vectors of sums that a column task keeps in registers.
constexpr int64_t kColumnSums = 8;

double body_cost(const ScalarBody& body) {
  double cost = 0;
  for (const ScalarInstr& instr : body.instrs) cost += prim_cost(instr.prim);
  return cost;
}

// Operations at the least, two of a multiply-add.
double operations(const ScalarInstr& instr, CpuLevel level) {
  return 2 * limit_cost(instr.prim, level);
}

double body_operations(const ScalarBody& body, CpuLevel level) {
  double count = 0;
  for (const ScalarInstr& instr : body.instrs)
    count += operations(instr, level);
  return count;
}

// The work of a row of `inner` elements. What is constant along it is computed
// once.
double row_operations(const RowCode& code, int64_t inner, CpuLevel level) {
  double count = 0;
  for (size_t i = 0; i < code.step.body.instrs.size(); ++i) {
    const ScalarInstr& instr = code.step.body.instrs[i];
    const bool repeated = code.schedule.varies[i] || is_reduction(instr.prim);
    count += operations(instr, level) *
             (repeated ? static_cast<double>(inner) : 1.0);
  }
  return count;
}

// The work of one result of a column step. What depends on a sum is computed
// once.
double column_operations(const ScalarBody& body, int64_t reduced,
                         CpuLevel level) {
  std::vector<bool> after(body.instrs.size());
  double count = 0;
  for (size_t i = 0; i < body.instrs.size(); ++i) {
    const ScalarInstr& instr = body.instrs[i];
    after[i] = is_reduction(instr.prim);
    const double times = static_cast<double>(reduced);
    bool once = false;
    if (!after[i])
      for (int32_t arg : instr.args)
        once = once || (arg >= 0 && after[static_cast<size_t>(arg)]);
    after[i] = after[i] || once;
    count += operations(instr, level) * (once ? 1.0 : times);
  }
  return count;
}

double extent(const Dims& sizes, const Dims& strides) {
  double count = 1;
  for (int d = 0; d < sizes.size() && d < strides.size(); ++d)
    if (strides[d] != 0) count *= static_cast<double>(sizes[d]);
  return count;
}

// Each byte of every operand counts once; picked rows count each time.
template <typename Step>
double touched_bytes(const Step& step, const Dims& reduce) {
  double bytes = 0;
  const auto add = [&](const Access& access) {
    const double outer = access.gather_slot >= 0
                             ? static_cast<double>(numel(step.outer))
                             : extent(step.outer, access.outer);
    bytes += outer * extent(reduce, access.reduce) *
             (access.inner != 0 ? static_cast<double>(step.inner) : 1.0) *
             static_cast<double>(dtype_size(access.dtype));
  };
  for (const Access& access : step.inputs) add(access);
  for (const Access& access : step.outputs) add(access);
  return bytes;
}

int64_t grain_of(int64_t elements_per_task, double cost) {
  const double per_task =
      static_cast<double>(elements_per_task) * std::max(1.0, cost / 8);
  return std::max<int64_t>(
      1, static_cast<int64_t>(static_cast<double>(kGrainElements) /
                              std::max(1.0, per_task)));
}

KernelPlan plan_of(const RowStep& step, CpuLevel level) {
  KernelPlan plan;
  const int64_t rows = numel(step.outer);
  const double cost = body_cost(step.body);
  const double elements = static_cast<double>(rows * step.inner);
  if (is_flat(step)) {
    plan.tasks = ceil_div(step.inner, kFlatChunk);
    plan.grain = grain_of(kFlatChunk, cost);
    plan.flops = elements * body_operations(step.body, level);
  } else {
    plan.tasks = rows;
    plan.grain = grain_of(step.inner, cost);
    const RowCode code = row_code(step, level);
    plan.grain =
        ceil_div(plan.grain, code.rows_at_once()) * code.rows_at_once();
    plan.scratch_bytes = code.scratch_bytes();
    plan.flops =
        static_cast<double>(rows) * row_operations(code, step.inner, level);
  }
  plan.bytes = touched_bytes(step, {});
  return plan;
}

KernelPlan plan_of(const ColumnStep& step, CpuLevel level) {
  KernelPlan plan;
  const int64_t block = column_block(step, level);
  const int64_t reduced = numel(step.reduce);
  plan.tasks = numel(step.outer) * ceil_div(step.inner, block);
  plan.grain = grain_of(block * reduced, body_cost(step.body));
  plan.flops = static_cast<double>(numel(step.outer) * step.inner) *
               column_operations(step.body, reduced, level);
  plan.bytes = touched_bytes(step, step.reduce);
  return plan;
}

// What an epilogue reads beside the sums, and what it writes.
double epilogue_bytes(const std::vector<TileAccess>& accesses, double batch,
                      double rows, double columns) {
  double bytes = 0;
  for (const TileAccess& access : accesses)
    bytes += (access.batch != 0 ? batch : 1) * (access.row != 0 ? rows : 1) *
             (access.column != 0 ? columns : 1) *
             static_cast<double>(dtype_size(access.dtype));
  return bytes;
}

KernelPlan plan_of(const TileStep& step, CpuLevel level) {
  KernelPlan plan;
  const weights::TileShape tile = weights::tile_shape(level);
  const int64_t per_matrix = panels(step, tile) * tile_cut(step, tile).blocks();
  plan.tasks = step.batch * per_matrix;
  const double products =
      static_cast<double>(step.batch) * static_cast<double>(step.rows) *
      static_cast<double>(step.columns) * static_cast<double>(step.depth);
  const double each =
      products / static_cast<double>(std::max<int64_t>(1, plan.tasks));
  // Few rows read weights faster than they multiply: their grain is bytes.
  const auto row_bytes =
      static_cast<double>(weights::panel_row_bytes(step.weights, tile.width()));
  const double panel_bytes = row_bytes * static_cast<double>(step.depth);
  plan.grain = std::max<int64_t>(
      1, static_cast<int64_t>(step.rows <= 2
                                  ? kGrainBytes / std::max(1.0, panel_bytes)
                                  : kGrainProducts / std::max(1.0, each)));
  const auto batch = static_cast<double>(step.batch);
  const auto rows = static_cast<double>(step.rows);
  const auto columns = static_cast<double>(step.columns);
  const auto depth = static_cast<double>(step.depth);
  plan.flops = 2 * products +
               batch * rows * columns * body_operations(step.epilogue, level);
  plan.bytes = 4.0 * (step.lhs_batch != 0 ? batch : 1) * rows * depth +
               (step.rhs_batched ? batch : 1) * depth * columns * row_bytes /
                   static_cast<double>(tile.width()) +
               epilogue_bytes(step.extras, batch, rows, columns) +
               epilogue_bytes(step.outputs, batch, rows, columns);
  return plan;
}

int64_t heads_of(const AttentionStep& step) {
  return step.outer * step.batch * step.heads;
}

double mask_bytes(const AttentionStep& step, const AttentionMask& mask) {
  const Dims sizes{step.outer, step.batch, step.heads, step.queries, step.keys};
  const Dims strides{mask.access.outer, mask.access.batch, mask.access.head,
                     mask.access.row, mask.key_stride};
  const bool floats = mask.kind == passes::MaskKind::add;
  return extent(sizes, strides) * (floats ? 4.0 : 1.0);
}

KernelPlan plan_of(const AttentionStep& step, CpuLevel level) {
  KernelPlan plan;
  const AttentionShape shape = attention_shape(step, level);
  const double pairs = static_cast<double>(heads_of(step)) *
                       static_cast<double>(step.queries) *
                       static_cast<double>(step.keys);
  plan.tasks = heads_of(step) * shape.query_blocks;
  const double products =
      pairs * static_cast<double>(step.depth + step.value_depth);
  // The softmax counts by its exponentials: the rest is little beside them.
  plan.flops = 2 * (products + pairs * limit_cost(Prim::exp, level));
  plan.bytes = 4.0 * static_cast<double>(heads_of(step)) *
               static_cast<double>((step.queries + step.keys) *
                                   (step.depth + step.value_depth));
  for (const AttentionMask& mask : step.masks)
    plan.bytes += mask_bytes(step, mask);
  const double each =
      products / static_cast<double>(std::max<int64_t>(1, plan.tasks));
  plan.grain = std::max<int64_t>(
      1, static_cast<int64_t>(kGrainProducts / 4 / std::max(1.0, each)));
  plan.scratch_bytes = static_cast<size_t>(shape.total) * sizeof(float);
  return plan;
}

// A range of tasks that begins within a block transforms its input once more.
KernelPlan plan_of(const WinogradStep& step, CpuLevel level) {
  KernelPlan plan;
  const WinogradShape shape = winograd_shape(step, level);
  plan.tasks = shape.tiles == 0 ? 0 : shape.tile_blocks * shape.panels.panels;
  plan.scratch_bytes = static_cast<size_t>(shape.total) * sizeof(float);
  const double products =
      static_cast<double>(shape.tiles * shape.panels.frequencies) *
      static_cast<double>(step.channels * step.features);
  plan.grain = std::max<int64_t>(
      1, static_cast<int64_t>(
             kGrainProducts /
             std::max(1.0, products / static_cast<double>(
                                          std::max<int64_t>(1, plan.tasks)))));
  const auto batch = static_cast<double>(step.batch);
  const auto places = static_cast<double>(step.out_height * step.out_width);
  const auto features = static_cast<double>(step.features);
  plan.flops = 2 * products + batch * places * features *
                                  body_operations(step.epilogue, level);
  plan.bytes = 4.0 * (batch * static_cast<double>(step.height * step.width) *
                          static_cast<double>(step.channels) +
                      static_cast<double>(weights::winograd_elements(
                          shape.panels, step.channels))) +
               epilogue_bytes(step.extras, batch, places, features) +
               epilogue_bytes(step.outputs, batch, places, features);
  return plan;
}

KernelPlan plan_of(const ExternStep& step, CpuLevel) {
  KernelPlan plan;
  plan.flops = step.flops;
  plan.bytes = step.bytes;
  return plan;
}

}  // namespace

bool is_flat(const RowStep& step) {
  return step.outer.empty() && !has_reduction(step.body);
}

// Wide blocks read longer pieces of memory; their sums stay in registers.
int64_t column_block(const ColumnStep& step, CpuLevel level) {
  const int64_t lanes = weights::tile_shape(level).lanes;
  int64_t sums = 0;
  for (const ScalarInstr& instr : step.body.instrs)
    if (is_reduction(instr.prim)) sums += dtype_size(instr.type) == 8 ? 2 : 1;
  const int64_t vectors = std::clamp<int64_t>(
      kColumnSums / std::max<int64_t>(1, sums), 2, kColumnSums);
  return std::clamp<int64_t>(ceil_div(step.inner, lanes), 1, vectors) * lanes;
}

int64_t panels(const TileStep& step, const weights::TileShape& tile) {
  return ceil_div(step.columns, tile.width());
}

KernelPlan kernel_plan(const StepBody& body, CpuLevel level) {
  return std::visit([&](const auto& step) { return plan_of(step, level); },
                    body);
}

}  // namespace fxjit::program
