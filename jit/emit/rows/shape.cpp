#include "jit/emit/rows/shape.h"

#include "src/ops/table/prims.h"

#include <algorithm>

namespace fxjit::jit {
namespace {

// Bounds on the cost of a body for one vector, and the cost of a load, in units
// of prim_cost().
constexpr int kLightBody = 6;
constexpr int kMediumBody = 16;
constexpr int kLoadCost = 1;
// A body counts as one chain if its cost is at most 3/2 of its longest path.
constexpr struct {
  int numerator = 3;
  int denominator = 2;
} kChainDepth;
constexpr int64_t kShortRowVectors = 4;
// Rows that take turns, with what they read, write and buffer, stay in the
// first-level cache.
constexpr int64_t kLeastTurns = 4, kMostTurns = 8;
constexpr int64_t kTurnBytes = int64_t{16} << 10;
constexpr int64_t kShortRowCost = 160;

// What one pass computes or loads per vector, and its cost.
class PassWork {
 public:
  PassWork(const program::RowForm& form, size_t number)
      : body_(form.body),
        schedule_(form.code.schedule),
        pass_(static_cast<int32_t>(number)),
        seen_(body_.instrs.size(), false) {
    const auto& pass = schedule_.passes[size_t(pass_)];
    for (int32_t id : pass.reductions) visit(id);
    for (int32_t r : pass.stores) visit(body_.results[size_t(r)]);
    for (int32_t id : pass.buffers) visit(id);
  }

  int cost() const { return cost_; }
  // Whether most of the work is one exponential, whose constants leave few of
  // sixteen registers free.
  bool is_exponential() const {
    if (cost_ > kMediumBody) return false;
    for (size_t i = 0; i < seen_.size(); ++i) {
      const Prim prim = body_.instrs[i].prim;
      if (seen_[i] && !is_loaded(int32_t(i)) &&
          (prim == Prim::exp || prim == Prim::sigmoid || prim == Prim::silu))
        return true;
    }
    return false;
  }
  // Whether most of the work waits for the result before it, so that the
  // processor finds little to do side by side in one vector.
  bool is_chain() const {
    std::vector<int> depth(seen_.size(), 0);
    int deepest = 0;
    for (size_t i = 0; i < seen_.size(); ++i) {
      const ScalarInstr& instr = body_.instrs[i];
      if (!seen_[i] || is_loaded(int32_t(i))) continue;
      for (int a = 0; a < prim_arity(instr.prim); ++a) {
        depth[i] = std::max(depth[i], depth[size_t(instr.args[size_t(a)])]);
      }
      depth[i] += prim_cost(instr.prim);
      deepest = std::max(deepest, depth[i]);
    }
    return cost_ * kChainDepth.denominator <= deepest * kChainDepth.numerator;
  }
  std::vector<int32_t> instructions() const {
    std::vector<int32_t> ids;
    for (size_t i = 0; i < seen_.size(); ++i) {
      if (seen_[i] && !is_reduction(body_.instrs[i].prim)) {
        ids.push_back(int32_t(i));
      }
    }
    return ids;
  }

 private:
  void visit(int32_t id) {
    const ScalarInstr& instr = body_.instrs[size_t(id)];
    const bool reduces = is_reduction(instr.prim);
    if (seen_[size_t(id)] || (!schedule_.varies[size_t(id)] && !reduces)) {
      return;
    }
    seen_[size_t(id)] = true;
    const int vectors = dtype_size(instr.type) == 8 ? 2 : 1;
    const bool loaded = is_loaded(id);
    cost_ += vectors * (loaded ? kLoadCost : prim_cost(instr.prim));
    if (loaded) return;
    for (int a = 0; a < prim_arity(instr.prim); ++a) {
      const int32_t arg = instr.args[size_t(a)];
      if (!is_reduction(body_.instrs[size_t(arg)].prim)) visit(arg);
    }
  }

  bool is_loaded(int32_t id) const {
    return body_.instrs[size_t(id)].prim == Prim::input ||
           (schedule_.buffered[size_t(id)] &&
            schedule_.level[size_t(id)] < pass_);
  }

  const ScalarBody& body_;
  const program::RowSchedule& schedule_;
  int32_t pass_;
  std::vector<bool> seen_;
  int cost_ = 0;
};

}  // namespace

std::vector<int32_t> pass_instructions(const program::RowForm& form,
                                       size_t pass) {
  return PassWork(form, pass).instructions();
}

int row_unroll(const VectorBuilder& b, const program::RowForm& form,
               size_t pass) {
  const PassWork work(form, pass);
  // Half the registers: half as much at a time.
  const int scale = b.level() == CpuLevel::avx512 ? 1 : 2;
  if (work.cost() <= kLightBody) return 4;
  // More vectors would read constants from memory each time.
  if (scale > 1 && work.is_exponential()) return 1;
  if (work.is_chain()) return 4 / scale;
  return work.cost() * scale <= kMediumBody ? 2 : 1;
}

bool is_heavy(const program::RowForm& form, size_t pass) {
  return PassWork(form, pass).cost() > kMediumBody;
}

bool is_short_row(const VectorBuilder& b, const program::RowForm& form) {
  const program::Extent& inner = form.loops.inner;
  if (inner.is_argument()) return false;
  const int64_t vectors = (inner.number() + b.lanes() - 1) / b.lanes();
  int64_t cost = 0;
  for (size_t i = 0; i < form.code.schedule.passes.size(); ++i) {
    cost += PassWork(form, i).cost();
  }
  return vectors <= kShortRowVectors && vectors * cost <= kShortRowCost;
}

int64_t rows_by_turns(const VectorBuilder& b, const program::RowForm& form) {
  const program::Extent& inner = form.loops.inner;
  if (b.level() == CpuLevel::avx512 || inner.is_argument() ||
      form.code.schedule.passes.size() < 2 || is_short_row(b, form))
    return 1;
  auto bytes = static_cast<int64_t>(form.code.schedule.buffer_bytes);
  for (size_t i = 0; i < form.loops.operands(); ++i)
    bytes += inner.number() *
             static_cast<int64_t>(dtype_size(form.loops.access(i).dtype));
  const int64_t rows = std::min(kMostTurns, kTurnBytes / bytes);
  return rows < kLeastTurns ? 1 : rows;
}

}  // namespace fxjit::jit
