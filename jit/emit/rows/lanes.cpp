#include "jit/emit/rows/lanes.h"

#include <algorithm>
#include <deque>

#include "jit/emit/reduction.h"
#include "jit/emit/rows/shape.h"
#include "jit/emit/vector_math.h"

namespace fxjit::jit {
namespace {

// Values that one chain sums before its sum is added to the total, so that
// rounding errors grow with the number of such stretches and not of values.
constexpr int64_t kStretch = 128;
// Vectors that are computed before any of them is stored. More of them, and the
// results of their reductions, would not fit the registers.
constexpr int kAtOnce = 2;

void append(Values& values, const Values& more) {
  values.insert(values.end(), more.begin(), more.end());
}

Values repeated(const Values& values, int64_t times) {
  Values all;
  for (int64_t i = 0; i < times; ++i) append(all, values);
  return all;
}

// Part number `index` of `values`, which consists of `parts` parts of the same
// size.
Values part(const Values& values, int64_t index, int64_t parts) {
  const auto size = std::ptrdiff_t(values.size()) / parts;
  const auto first = values.begin() + index * size;
  return Values(first, first + size);
}

}  // namespace

// The group of rows that is being emitted.
struct LaneRows::Group {
  LaneGroupPlace place;
  // For each vector, the constants of its rows that are known so far, by
  // instruction.
  std::vector<Values> constants;
};

LaneRows::LaneRows(VectorBuilder& b, const program::RowForm& form,
                   const StepArguments& arguments)
    : b_(b),
      form_(form),
      code_(form.code),
      body_(form.body),
      schedule_(code_.schedule),
      operands_(b, form, arguments) {}

void LaneRows::run(const Values& operands, const Values& outer, int vectors,
                   Value* active) {
  Group group{
      {operands, outer, active ? b_.tail_mask(active) : nullptr},
      std::vector<Values>(size_t(vectors), Values(body_.instrs.size()))};
  const size_t passes = schedule_.passes.size();
  for (size_t number = 0; number < passes; ++number) {
    emit_constants(group, int32_t(number));
    const Values reduced = pass(group, number);
    size_t at = 0;
    for (int32_t id : schedule_.passes[number].reductions) {
      for (Values& constants : group.constants) {
        constants[size_t(id)] = reduced[at++];
      }
    }
  }
  emit_constants(group, int32_t(passes));
  store_constants(group);
}

// Emits one pass over all positions of the rows. Returns, for each reduction of
// the pass, one vector for each vector of rows.
Values LaneRows::pass(Group& group, size_t number) {
  Values nothing;
  for (int32_t id : schedule_.passes[number].reductions) {
    Value* identity =
        reduction_identity(b_, body_.instrs[size_t(id)], b_.lanes());
    nothing.insert(nothing.end(), group.constants.size(), identity);
  }
  Values sums = whole_rounds(group, number, nothing);
  if (operands_.has_rest()) {
    Value* last = b_.i64(operands_.whole_rounds());
    sums = round(group, number, {last, 0, /*is_rest=*/true}, sums);
  }
  return met(sums, number);
}

Values LaneRows::whole_rounds(Group& group, size_t number,
                              const Values& nothing) {
  const int64_t together = kStretch * chains_of(number);
  Value* zero = b_.i64(0);
  Value* rounds = b_.i64(operands_.whole_rounds());
  if (nothing.empty() || operands_.whole_rounds() <= together)
    return stretch(group, number, zero, rounds, nothing);
  return b_.loop(
      zero, rounds, b_.i64(together), nothing,
      [&](Value* first, const Values& sums) {
        Value* end = b_.min(b_.add(first, b_.i64(together)), rounds);
        return added(sums, stretch(group, number, first, end, nothing), number);
      });
}

// Emits rounds [first, end) in the order of the pass. Each chain of sums starts
// with `nothing`, the identities of the reductions.
Values LaneRows::stretch(Group& group, size_t number, Value* first, Value* end,
                         const Values& nothing) {
  Value* last = b_.i64(operands_.whole_rounds() - 1);
  const auto round_at = [&](Value* at, const Values& before) {
    Value* place = goes_back(number) ? b_.sub(last, at) : at;
    return round(group, number, {place, 0}, before);
  };
  const int64_t chains = chains_of(number);
  if (chains == 1) return b_.loop(first, end, b_.i64(1), nothing, round_at);
  Value* turns = b_.ir().CreateUDiv(b_.sub(end, first), b_.i64(chains));
  Value* whole = b_.add(first, b_.mul(turns, b_.i64(chains)));
  const Values sums =
      b_.loop(first, whole, b_.i64(chains), repeated(nothing, chains),
              [&](Value* at, const Values& before) {
                Values next;
                for (int64_t chain = 0; chain < chains; ++chain)
                  append(next, round_at(b_.add(at, b_.i64(chain)),
                                        part(before, chain, chains)));
                return next;
              });
  return b_.loop(whole, end, b_.i64(1), joined(sums, number, chains), round_at);
}

// The number of neighbouring rounds that are reduced side by side, so that one
// does not wait for the result of another. It is the same for a few rows as for
// a whole group, so that results do not depend on how rows are grouped.
int64_t LaneRows::chains_of(size_t number) const {
  if (schedule_.passes[number].reductions.empty()) return 1;
  const int64_t chains = row_unroll(b_, form_, number) / operands_.vectors();
  return operands_.whole_rounds() < 2 * chains ? 1
                                               : std::max<int64_t>(chains, 1);
}

// Combines the sums of all chains, vector by vector.
Values LaneRows::joined(const Values& sums, size_t number, int64_t chains) {
  Values total = part(sums, 0, chains);
  for (int64_t chain = 1; chain < chains; ++chain)
    total = added(total, part(sums, chain, chains), number);
  return total;
}

// Combines two lists of sums of the same vectors, element by element.
Values LaneRows::added(const Values& sums, const Values& more, size_t number) {
  Values total = sums;
  const auto& reductions = schedule_.passes[number].reductions;
  const size_t vectors = total.size() / reductions.size();
  for (size_t i = 0; i < total.size(); ++i) {
    const int32_t id = reductions[i / vectors];
    total[i] = reduction_step(b_, body_.instrs[size_t(id)], total[i], more[i],
                              /*mask=*/nullptr, nan_rule(schedule_, id));
  }
  return total;
}

// Combines the lanes of each row; all lanes of the row get the result.
Values LaneRows::met(const Values& sums, size_t number) {
  Values all;
  const auto& reductions = schedule_.passes[number].reductions;
  for (size_t r = 0; r < reductions.size(); ++r) {
    const ScalarInstr& instr = body_.instrs[size_t(reductions[r])];
    const NanRule nan = nan_rule(schedule_, reductions[r]);
    const Values vectors = part(sums, int64_t(r), int64_t(reductions.size()));
    append(all, operands_.met(vectors, [&](Value* a, Value* b) {
      return reduction_step(b_, instr, a, b, /*mask=*/nullptr, nan);
    }));
  }
  return all;
}

BodyValues LaneRows::values_at(Group& group, size_t number, LaneSpot spot) {
  return BodyValues(
      b_, body_, b_.lanes(),
      [this, &group, number, spot](BodyValues& values, int32_t id) -> Value* {
        const ScalarInstr& instr = body_.instrs[size_t(id)];
        if (!schedule_.varies[size_t(id)]) {
          return group.constants[size_t(spot.vector)][size_t(id)];
        }
        if (instr.prim == Prim::input || instr.prim == Prim::index) {
          if (instr.prim == Prim::input) read_.insert(size_t(instr.slot));
          return operands_.leaf(group.place, instr, spot);
        }
        if (schedule_.buffered[size_t(id)] &&
            schedule_.level[size_t(id)] < int32_t(number)) {
          const int32_t result = schedule_.buffer_of(id).result;
          if (result >= 0) read_.insert(output(result));
          return operands_.kept(group.place, id, spot);
        }
        if (schedule_.softmax[size_t(id)]) {
          return emit_exp_softmax(b_, values.get(instr.args[0]));
        }
        return nullptr;
      });
}

// Emits all vectors of the round that begins with vector `first`.
Values LaneRows::round(Group& group, size_t number, LaneSpot first,
                       const Values& accumulators) {
  const int vectors =
      first.is_rest ? operands_.vectors_of_rest() : int(group.constants.size());
  Values next = accumulators;
  read_.clear();
  for (int v = 0; v < vectors; v += kAtOnce)
    some_vectors(group, number, {first.round, v, first.is_rest},
                 std::min(vectors - v, kAtOnce), next);
  if (code_.lanes.asks_ahead && !first.is_rest)
    ask_ahead(group, number, first.round);
  return next;
}

// Prefetches what later rounds read and write. Written lines are prefetched
// just before they are needed: if positions lie a power of two apart, the
// caches hold few of their lines.
void LaneRows::ask_ahead(Group& group, size_t number, Value* round) {
  constexpr int64_t kRead = 4, kWritten = 1;
  const int vectors = int(group.constants.size());
  const auto ask = [&](size_t operand, int64_t rounds) {
    const int64_t away = goes_back(number) ? -rounds : rounds;
    const LaneSpot later{b_.add(round, b_.i64(away)), 0};
    operands_.prefetch(group.place, operand, later, vectors);
  };
  const auto ask_written = [&](int32_t result) {
    if (result >= 0 && read_.count(output(result)) == 0)
      ask(output(result), kWritten);
  };
  for (size_t operand : read_) ask(operand, kRead);
  for (int32_t result : schedule_.passes[number].stores) ask_written(result);
  for (int32_t id : schedule_.passes[number].buffers)
    ask_written(schedule_.buffer_of(id).result);
}

// Emits `count` vectors of a round. All loads come before all stores, because
// LLVM cannot tell that they do not overlap.
void LaneRows::some_vectors(Group& group, size_t number, LaneSpot first,
                            int count, Values& accumulators) {
  const auto& pass = schedule_.passes[number];
  const size_t vectors = group.constants.size();
  std::deque<BodyValues> rows;
  for (int v = 0; v < count; ++v) {
    const LaneSpot spot{first.round, first.vector + v, first.is_rest};
    Value* mask = first.is_rest ? operands_.mask(group.place, spot) : nullptr;
    BodyValues& values = rows.emplace_back(values_at(group, number, spot));
    for (size_t r = 0; r < pass.reductions.size(); ++r) {
      const ScalarInstr& instr = body_.instrs[size_t(pass.reductions[r])];
      Value*& accumulator = accumulators[r * vectors + size_t(spot.vector)];
      accumulator =
          reduction_step(b_, instr, accumulator, values.reduced(instr), mask,
                         nan_rule(schedule_, pass.reductions[r]));
    }
    for (int32_t r : pass.stores) values.get(body_.results[size_t(r)]);
    for (int32_t id : pass.buffers) values.get(id);
  }
  for (int v = 0; v < count; ++v) {
    const LaneSpot spot{first.round, first.vector + v, first.is_rest};
    for (int32_t r : pass.stores) {
      const DType dtype = form_.loops.outputs[size_t(r)].dtype;
      operands_.store(group.place, size_t(r),
                      rows[size_t(v)].result(size_t(r), dtype), spot);
    }
    for (int32_t id : pass.buffers)
      operands_.keep(group.place, id, rows[size_t(v)].get(id), spot);
  }
}

// Emits the constants of each row that are known after `level` passes and not
// before.
void LaneRows::emit_constants(Group& group, int32_t level) {
  for (size_t v = 0; v < group.constants.size(); ++v) {
    Values& constants = group.constants[v];
    BodyValues values(
        b_, body_, b_.lanes(), [&](BodyValues&, int32_t id) -> Value* {
          const ScalarInstr& instr = body_.instrs[size_t(id)];
          if (instr.prim == Prim::input || instr.prim == Prim::index) {
            return operands_.leaf(group.place, instr, {nullptr, int(v)});
          }
          return constants[size_t(id)];
        });
    for (size_t i = 0; i < body_.instrs.size(); ++i) {
      const ScalarInstr& instr = body_.instrs[i];
      if (schedule_.varies[i] || schedule_.level[i] != level) continue;
      if (is_reduction(instr.prim)) continue;
      constants[i] = values.get(int32_t(i));
    }
  }
}

void LaneRows::store_constants(Group& group) {
  for (size_t v = 0; v < group.constants.size(); ++v) {
    BodyValues values(b_, body_, b_.lanes(),
                      [&](BodyValues&, int32_t id) -> Value* {
                        return group.constants[v][size_t(id)];
                      });
    for (int32_t r : schedule_.row_stores) {
      const DType dtype = form_.loops.outputs[size_t(r)].dtype;
      operands_.store(group.place, size_t(r), values.result(size_t(r), dtype),
                      {nullptr, int(v)});
    }
  }
}

}  // namespace fxjit::jit
