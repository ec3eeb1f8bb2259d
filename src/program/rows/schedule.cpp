#include "src/program/rows/schedule.h"

#include <algorithm>

#include "fxjit/error.h"
#include "src/ops/table/prims.h"
#include "src/program/rows/rewrite.h"
#include "src/support/rounding.h"

namespace fxjit::program {
namespace {

// Above this, computing a value again costs more than a store and a load from
// the first-level cache.
constexpr int kRecomputeLimit = 4;
constexpr int kStridedLoadCost = 8;
constexpr int kBufferLoadCost = 1;
// Row buffers are padded to the widest vector.
constexpr size_t kBufferAlign = 64;

// Places all row buffers that are not in results.
void place_in_scratch(const RowStep& step, RowSchedule& schedule) {
  schedule.buffer_bytes = 0;
  for (RowSchedule::Buffer& buffer : schedule.buffers) {
    if (buffer.result >= 0) continue;
    buffer.offset = schedule.buffer_bytes;
    const size_t row = static_cast<size_t>(step.inner) *
                       dtype_size(step.body.instrs[buffer.id].type);
    schedule.buffer_bytes +=
        support::round_up(row, kBufferAlign) + kBufferSlack;
  }
}

class Scheduler {
 public:
  explicit Scheduler(const RowStep& step)
      : step_(step), instrs_(step.body.instrs) {}

  RowSchedule run() {
    classify();
    split_roots();
    for (size_t pass = 1; pass < out_.passes.size(); ++pass)
      for (int32_t root : roots(static_cast<int32_t>(pass)))
        visit(root, static_cast<int32_t>(pass));
    place_buffers();
    return std::move(out_);
  }

 private:
  void classify() {
    const size_t n = instrs_.size();
    out_.varies = varies_along_row(step_);
    out_.level.resize(n);
    out_.buffered.assign(n, false);
    find_softmax();
    visited_.assign(n, -1);
    for (size_t i = 0; i < n; ++i) out_.level[i] = level_of(instrs_[i]);
  }

  void find_softmax() {
    const BodyFacts facts(step_.body);
    for (size_t i = 0; i < instrs_.size(); ++i) {
      const auto id = static_cast<int32_t>(i);
      out_.softmax.push_back(facts.is_softmax_exp(id) ||
                             (instrs_[i].prim == Prim::reduce_max &&
                              facts.only_shifts_softmax(id)));
    }
    for (int32_t id : step_.softmax)
      out_.softmax[static_cast<size_t>(id)] = true;
  }

  int32_t level_of(const ScalarInstr& instr) const {
    int32_t level = 0;
    for (int a = 0; a < prim_arity(instr.prim); ++a)
      level = std::max(level, out_.level[instr.args[a]]);
    return is_reduction(instr.prim) ? level + 1 : level;
  }

  int leaf_cost(const ScalarInstr& instr) const {
    if (instr.prim != Prim::input) return prim_cost(instr.prim);
    return step_.inputs[instr.slot].inner != 1 ? kStridedLoadCost : 1;
  }

  void split_roots() {
    int32_t last = 0;
    for (size_t i = 0; i < instrs_.size(); ++i)
      if (is_reduction(instrs_[i].prim))
        last = std::max(last, out_.level[instrs_[i].args[0]]);
    for (int32_t result : step_.body.results)
      if (out_.varies[result]) last = std::max(last, out_.level[result]);
    out_.passes.resize(last + 1);
    for (size_t i = 0; i < instrs_.size(); ++i)
      if (is_reduction(instrs_[i].prim))
        out_.passes[out_.level[instrs_[i].args[0]]].reductions.push_back(
            static_cast<int32_t>(i));
    for (size_t r = 0; r < step_.body.results.size(); ++r) {
      const int32_t id = step_.body.results[r];
      // A varying store of a row constant (an expanded result) goes with the
      // last pass, where every row constant is known.
      if (step_.outputs[r].inner == 0 && !out_.varies[id])
        out_.row_stores.push_back(static_cast<int32_t>(r));
      else
        out_.passes[out_.varies[id] ? out_.level[id] : last].stores.push_back(
            static_cast<int32_t>(r));
    }
    // A row constant of a level beyond the last pass needs that pass to exist.
    for (const auto& pass : out_.passes)
      for (int32_t r : pass.stores) {
        const int32_t level = out_.level[step_.body.results[r]];
        needed_level_ = std::max(needed_level_, level);
      }
    move_late_row_constants(last);
  }

  // An expanded row constant that depends on a reduction of the last pass is
  // stored in a pass of its own.
  void move_late_row_constants(int32_t last) {
    if (needed_level_ <= last) return;
    auto& stores = out_.passes[last].stores;
    RowSchedule::Pass extra;
    std::erase_if(stores, [&](int32_t r) {
      if (out_.level[step_.body.results[r]] <= last) return false;
      extra.stores.push_back(r);
      return true;
    });
    out_.passes.resize(needed_level_ + 1);
    out_.passes.back().stores = std::move(extra.stores);
  }

  std::vector<int32_t> roots(int32_t pass) const {
    std::vector<int32_t> ids;
    for (int32_t r : out_.passes[pass].reductions)
      ids.push_back(instrs_[r].args[0]);
    for (int32_t r : out_.passes[pass].stores)
      ids.push_back(step_.body.results[r]);
    return ids;
  }

  void visit(int32_t id, int32_t pass) {
    if (!out_.varies[id] || visited_[id] == pass) return;
    visited_[id] = pass;
    if (instrs_[id].prim == Prim::input)
      out_.reads_until = std::max(out_.reads_until, pass);
    if (out_.level[id] < pass &&
        (out_.buffered[id] || recompute_cost(id) > kRecomputeLimit)) {
      if (!out_.buffered[id]) {
        out_.buffered[id] = true;
        out_.passes[out_.level[id]].buffers.push_back(id);
        // Buffering it may need values of its own pass recomputed or kept.
        visit_args(id, out_.level[id]);
      }
      return;
    }
    visit_args(id, pass);
  }

  // What computing `id` again costs when row buffers are read, or something
  // above the limit.
  int recompute_cost(int32_t id) const {
    if (out_.buffered[id]) return kBufferLoadCost;
    int cost = leaf_cost(instrs_[id]);
    for (int a = 0; a < prim_arity(instrs_[id].prim); ++a) {
      const int32_t arg = instrs_[id].args[a];
      if (cost > kRecomputeLimit) break;
      if (out_.varies[arg]) cost += recompute_cost(arg);
    }
    return cost;
  }

  void visit_args(int32_t id, int32_t pass) {
    for (int a = 0; a < prim_arity(instrs_[id].prim); ++a)
      visit(instrs_[id].args[a], pass);
  }

  void place_buffers() {
    for (size_t i = 0; i < instrs_.size(); ++i)
      if (out_.buffered[i])
        out_.buffers.push_back({.id = static_cast<int32_t>(i)});
    place_in_scratch(step_, out_);
    for (auto& pass : out_.passes)
      std::sort(pass.buffers.begin(), pass.buffers.end());
  }

  const RowStep& step_;
  const std::vector<ScalarInstr>& instrs_;
  RowSchedule out_;
  std::vector<int32_t> visited_;
  int32_t needed_level_ = 0;
};

}  // namespace

const RowSchedule::Buffer& RowSchedule::buffer_of(int32_t id) const {
  const auto found =
      std::find_if(buffers.begin(), buffers.end(),
                   [&](const Buffer& buffer) { return buffer.id == id; });
  if (found == buffers.end())
    throw InternalError("the value has no row buffer");
  return *found;
}

RowSchedule schedule_rows(const RowStep& step) { return Scheduler(step).run(); }

void keep_in_results(const RowStep& step, RowSchedule& schedule) {
  std::vector<int32_t> free = schedule.passes.back().stores;
  const int32_t last = static_cast<int32_t>(schedule.passes.size()) - 1;
  for (RowSchedule::Buffer& buffer : schedule.buffers) {
    const DType type = step.body.instrs[buffer.id].type;
    const int32_t level = schedule.level[buffer.id];
    const auto fits = [&](int32_t r) {
      return step.outputs[r].dtype == type && step.outputs[r].inner != 0;
    };
    const auto found = level < last && level >= schedule.reads_until
                           ? std::find_if(free.begin(), free.end(), fits)
                           : free.end();
    if (found == free.end()) continue;
    buffer.result = *found;
    free.erase(found);
  }
  place_in_scratch(step, schedule);
}

}  // namespace fxjit::program
