#include "src/program/planning/pieces.h"

#include <algorithm>

#include "src/passes/fusing/inner_rows.h"
#include "src/program/columns/step.h"
#include "src/program/cost/body_work.h"
#include "src/program/rows/code.h"
#include "src/program/rows/lane_memory.h"
#include "src/program/rows/step.h"
#include "src/support/machine/cache_line.h"
#include "src/support/rounding.h"

namespace fxjit::program {
namespace {

// Threads wait for each other after each pass of a row that is cut. The step
// must have at least this many times the work that one thread is worth starting
// for.
constexpr int64_t kLeastGrains = 20;

// Columns are cut only if, uncut, they keep a smaller part of the threads busy.
constexpr double kWellShared = 0.8;

// Whether every reduction can be combined from pieces, and the step is long
// enough to be worth it.
bool suits_pieces(const Loops& loops, const ScalarBody& body) {
  const int64_t elements =
      numel(loops.outer) * numel(loops.reduce) * loops.inner;
  const auto is_whole = [](const ScalarInstr& instr) {
    return is_reduction(instr.prim) && !combination(instr.prim);
  };
  const auto gathers = [](const Access& access) {
    return access.gather_slot >= 0;
  };
  return grain_of_elements(elements / kLeastGrains, body_cost(body)) == 1 &&
         !has_index(body) && std::ranges::none_of(body.instrs, is_whole) &&
         std::ranges::none_of(loops.inputs, gathers);
}

// The average part of the threads, 0 to 1, that works while `tasks` equal tasks
// are done.
double used(int64_t tasks, int64_t threads) {
  const int64_t rounds = support::ceil_div(tasks, threads);
  return static_cast<double>(tasks) / static_cast<double>(rounds * threads);
}

// The number of equal pieces for each of `items` rows of `length` elements that
// keeps most threads busy, with at least `least` pieces in all; 1 if none does
// better than whole rows.
int64_t best_pieces(int64_t items, int64_t length, int64_t least,
                    int64_t threads) {
  int64_t best = 1;
  const int64_t most =
      std::min(passes::kMostPieces, length / passes::kShortestPiece);
  for (int64_t pieces = std::max<int64_t>(2, support::ceil_div(least, items));
       pieces <= most; ++pieces)
    if (length % pieces == 0 &&
        used(items * pieces, threads) > used(items * best, threads))
      best = pieces;
  return best;
}

// Whether threads would divide the neighbours of a lane group badly. They would
// if all neighbours are one task, if groups share cache lines, or if each pass
// reads a group from memory again: pieces are read again too, but in memory
// order.
bool share_badly(const RowStep& step, const Machine& machine) {
  const LaneGroup& lanes = step.code.lanes;
  return lanes.takes_all() || groups_share_lines(step) ||
         positions_collide(step, step.inputs, kFirstLevel) ||
         leaves_second_level(step, lanes, second_level(machine.cache_bytes));
}

}  // namespace

std::optional<Prim> combination(Prim reduction) {
  switch (reduction) {
    case Prim::reduce_sum:
      return Prim::add;
    case Prim::reduce_prod:
      return Prim::mul;
    case Prim::reduce_max:
      return Prim::maximum;
    case Prim::reduce_min:
      return Prim::minimum;
    case Prim::reduce_any:
      return Prim::bit_or;
    case Prim::reduce_all:
      return Prim::bit_and;
    default:
      return std::nullopt;
  }
}

int64_t row_pieces(const RowStep& step, const Machine& machine) {
  if (machine.threads < 2 || step.strict || !has_reduction(step.body) ||
      !suits_pieces(step, step.body))
    return 1;
  const int64_t rows = numel(step.outer);
  if (!step.outer.empty() && rows / step.outer.back() >= machine.threads)
    return 1;
  RowStep whole = step;
  whole.analyse(machine);
  if (whole.code.lanes.empty()) {
    if (rows >= machine.threads || !whole.code.crosswise.empty()) return 1;
    return best_pieces(rows, step.inner, machine.threads, machine.threads);
  }
  const int64_t neighbours = step.outer.back(), items = rows / neighbours;
  const int64_t groups =
      items * support::ceil_div(neighbours, whole.code.tasks_at_once());
  if (neighbours < support::kLineFloats ||
      (groups >= machine.threads && !share_badly(whole, machine)))
    return 1;
  return best_pieces(items, step.inner,
                     std::max<int64_t>(machine.threads, passes::kLeastTasks),
                     machine.threads);
}

int64_t column_pieces(const ColumnStep& step, const Machine& machine) {
  if (machine.threads < 2 || step.reduce.size() != 1 ||
      !suits_pieces(step, step.body))
    return 1;
  const int64_t items = numel(step.outer);
  if (items >= machine.threads) return 1;
  ColumnStep whole = step;
  whole.analyse(machine);
  const int64_t tasks = whole.plan(machine.level).tasks;
  // The last block of columns is smaller than others.
  const double full = static_cast<double>(items * step.inner) /
                      static_cast<double>(tasks * whole.block);
  if (full * used(tasks, machine.threads) > kWellShared) return 1;
  return best_pieces(items, step.reduce[0], machine.threads, machine.threads);
}

}  // namespace fxjit::program
