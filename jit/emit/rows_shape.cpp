#include "jit/emit/rows_shape.h"

#include <algorithm>

namespace fxjit::jit {
namespace {

// In prim_cost's units per f32 vector.
constexpr int kLightBody = 6;
constexpr int kMediumBody = 16;
constexpr int kLoadCost = 1;
constexpr int64_t kShortRowVectors = 4;
constexpr int64_t kShortRowCost = 160;

// The cost of what one pass computes per vector.
class PassCost {
 public:
  PassCost(const program::RowStep& step, const program::RowSchedule& schedule,
           size_t pass)
      : step_(step),
        schedule_(schedule),
        pass_(static_cast<int32_t>(pass)),
        seen_(step.body.instrs.size(), false) {}

  int run() {
    const auto& pass = schedule_.passes[size_t(pass_)];
    for (int32_t id : pass.reductions) visit(id);
    for (int32_t r : pass.stores) visit(step_.body.results[size_t(r)]);
    for (int32_t id : pass.buffers) visit(id);
    return cost_;
  }

 private:
  void visit(int32_t id) {
    const ScalarInstr& instr = step_.body.instrs[size_t(id)];
    const bool reduces = is_reduction(instr.prim);
    if (seen_[size_t(id)] || (!schedule_.varies[size_t(id)] && !reduces)) {
      return;
    }
    seen_[size_t(id)] = true;
    const int vectors = dtype_size(instr.type) == 8 ? 2 : 1;
    const bool loaded = instr.prim == Prim::input || is_buffered(id);
    cost_ += vectors * (loaded ? kLoadCost : program::prim_cost(instr.prim));
    if (loaded) return;
    for (int a = 0; a < prim_arity(instr.prim); ++a) {
      const int32_t arg = instr.args[size_t(a)];
      if (!is_reduction(step_.body.instrs[size_t(arg)].prim)) visit(arg);
    }
  }

  bool is_buffered(int32_t id) const {
    return schedule_.buffered[size_t(id)] &&
           schedule_.level[size_t(id)] < pass_;
  }

  const program::RowStep& step_;
  const program::RowSchedule& schedule_;
  int32_t pass_;
  std::vector<bool> seen_;
  int cost_ = 0;
};

}  // namespace

int row_unroll(const VectorBuilder& b, const program::RowStep& step,
               const program::RowSchedule& schedule, size_t pass) {
  const int cost = PassCost(step, schedule, pass).run();
  // Half the registers: half as much at a time.
  const int scale = b.level() == CpuLevel::avx512 ? 1 : 2;
  if (cost <= kLightBody) return 4;
  return cost * scale <= kMediumBody ? 2 : 1;
}

bool is_short_row(const VectorBuilder& b, const program::RowStep& step,
                  const program::RowSchedule& schedule) {
  const int64_t vectors = (step.inner + b.lanes() - 1) / b.lanes();
  int64_t cost = 0;
  for (size_t i = 0; i < schedule.passes.size(); ++i) {
    cost += PassCost(step, schedule, i).run();
  }
  return vectors <= kShortRowVectors && vectors * cost <= kShortRowCost;
}

}  // namespace fxjit::jit
