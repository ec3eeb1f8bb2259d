#include "jit/emit/rows/lanes.h"

#include <algorithm>
#include <deque>

#include "jit/emit/reduction.h"
#include "jit/emit/rows/shape.h"
#include "jit/emit/vector_math.h"

namespace fxjit::jit {
namespace {

void append(Values& values, const Values& more) {
  values.insert(values.end(), more.begin(), more.end());
}

Values repeated(const Values& values, int64_t times) {
  Values all;
  for (int64_t i = 0; i < times; ++i) append(all, values);
  return all;
}

// Number `index` of so many parts of the same size.
Values part(const Values& values, int64_t index, int64_t parts) {
  const auto size = std::ptrdiff_t(values.size()) / parts;
  const auto first = values.begin() + index * size;
  return Values(first, first + size);
}

}  // namespace

// The rows that are worked on.
struct LaneRows::Group {
  const Values& operands;
  const Values& outer;
  Value* mask;  // Lanes that hold a row; null: all.
  // For each vector, per instruction: constants of its rows known so far.
  std::vector<Values> constants;
};

LaneRows::LaneRows(VectorBuilder& b, const program::RowForm& form,
                   const StepArguments& arguments)
    : b_(b),
      form_(form),
      loops_(form.loops),
      code_(form.code),
      body_(code_.body),
      schedule_(code_.schedule),
      arguments_(arguments),
      facts_(body_) {}

void LaneRows::run(const Values& operands, const Values& outer, int vectors,
                   Value* active) {
  Group group{
      operands, outer, active ? b_.tail_mask(active) : nullptr,
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

// All positions of the rows. For each reduction of the pass a vector for each
// vector of rows.
Values LaneRows::pass(Group& group, size_t number) {
  Values identities;
  for (int32_t id : schedule_.passes[number].reductions) {
    Value* identity =
        reduction_identity(b_, body_.instrs[size_t(id)], b_.lanes());
    identities.insert(identities.end(), group.constants.size(), identity);
  }
  const int64_t chains = chains_of(number);
  const auto position_at = [&](Value* at, const Values& before) {
    return position(group, number, at, before);
  };
  Value* inner = arguments_.inner;
  if (chains == 1)
    return b_.loop(b_.i64(0), inner, b_.i64(1), identities, position_at);
  Value* whole = b_.mul(b_.ir().CreateUDiv(inner, b_.i64(chains)),
                        b_.i64(chains));
  const Values sums =
      b_.loop(b_.i64(0), whole, b_.i64(chains), repeated(identities, chains),
              [&](Value* at, const Values& before) {
                Values next;
                for (int64_t chain = 0; chain < chains; ++chain)
                  append(next, position_at(b_.add(at, b_.i64(chain)),
                                           part(before, chain, chains)));
                return next;
              });
  return b_.loop(whole, inner, b_.i64(1), joined(sums, number, chains),
                 position_at);
}

// Neighbouring positions whose reductions go on side by side, so that one does
// not wait for the other's result. As many for a few rows as for a whole group,
// so that results do not depend on how rows are grouped.
int64_t LaneRows::chains_of(size_t number) const {
  if (schedule_.passes[number].reductions.empty()) return 1;
  const int64_t vectors = code_.lanes / b_.lanes();
  const int64_t chains = row_unroll(b_, form_, number) / vectors;
  const program::Extent& inner = loops_.inner;
  const bool few = !inner.is_argument() && inner.number() < 2 * chains;
  return few ? 1 : std::max<int64_t>(chains, 1);
}

// What all chains reduced, by vectors.
Values LaneRows::joined(const Values& sums, size_t number, int64_t chains) {
  Values total = part(sums, 0, chains);
  const auto& reductions = schedule_.passes[number].reductions;
  const size_t vectors = total.size() / reductions.size();
  for (int64_t chain = 1; chain < chains; ++chain) {
    const Values more = part(sums, chain, chains);
    for (size_t i = 0; i < total.size(); ++i) {
      const int32_t id = reductions[i / vectors];
      total[i] = reduction_step(b_, body_.instrs[size_t(id)], total[i], more[i],
                                /*mask=*/nullptr, nan_rule(facts_, id));
    }
  }
  return total;
}

BodyValues LaneRows::values_at(Group& group, size_t number, Spot spot) {
  return BodyValues(
      b_, body_, b_.lanes(),
      [this, &group, number, spot](BodyValues& values, int32_t id) -> Value* {
        const ScalarInstr& instr = body_.instrs[size_t(id)];
        if (!schedule_.varies[size_t(id)]) {
          return group.constants[size_t(spot.vector)][size_t(id)];
        }
        if (instr.prim == Prim::input || instr.prim == Prim::index) {
          return leaf(group, instr, spot);
        }
        if (schedule_.buffered[size_t(id)] &&
            schedule_.level[size_t(id)] < int32_t(number)) {
          return b_.load(instr.type, buffer(id, spot));
        }
        if (facts_.is_softmax_exp(id)) {
          return emit_exp_softmax(b_, values.get(instr.args[0]));
        }
        return nullptr;
      });
}

// Loads come before all stores, which LLVM cannot tell apart.
Values LaneRows::position(Group& group, size_t number, Value* at,
                          const Values& accumulators) {
  const auto& pass = schedule_.passes[number];
  const size_t vectors = group.constants.size();
  Values next = accumulators;
  std::deque<BodyValues> rows;
  for (size_t v = 0; v < vectors; ++v) {
    BodyValues& values =
        rows.emplace_back(values_at(group, number, {at, int(v)}));
    for (size_t r = 0; r < pass.reductions.size(); ++r) {
      const ScalarInstr& instr = body_.instrs[size_t(pass.reductions[r])];
      Value* value = values.reduced(instr);
      Value*& accumulator = next[r * vectors + v];
      accumulator =
          reduction_step(b_, instr, accumulator, value, /*mask=*/nullptr,
                         nan_rule(facts_, pass.reductions[r]));
    }
    for (int32_t r : pass.stores) values.get(body_.results[size_t(r)]);
    for (int32_t id : pass.buffers) values.get(id);
  }
  for (size_t v = 0; v < vectors; ++v) {
    const Spot spot{at, int(v)};
    for (int32_t r : pass.stores) {
      const DType dtype = loops_.outputs[size_t(r)].dtype;
      store(group, size_t(r), rows[v].result(size_t(r), dtype), spot);
    }
    for (int32_t id : pass.buffers) {
      b_.store(body_.instrs[size_t(id)].type, rows[v].get(id),
               buffer(id, spot));
    }
  }
  return next;
}

// Constants of each row that are first known after `level` passes.
void LaneRows::emit_constants(Group& group, int32_t level) {
  for (size_t v = 0; v < group.constants.size(); ++v) {
    Values& constants = group.constants[v];
    BodyValues values(
        b_, body_, b_.lanes(), [&](BodyValues&, int32_t id) -> Value* {
          const ScalarInstr& instr = body_.instrs[size_t(id)];
          if (instr.prim == Prim::input || instr.prim == Prim::index) {
            return leaf(group, instr, {nullptr, int(v)});
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
      const DType dtype = loops_.outputs[size_t(r)].dtype;
      store(group, size_t(r), values.result(size_t(r), dtype),
            {nullptr, int(v)});
    }
  }
}

Value* LaneRows::leaf(const Group& group, const ScalarInstr& instr, Spot spot) {
  const auto slot = size_t(instr.slot);
  if (instr.prim == Prim::input) {
    const DType dtype = loops_.inputs[slot].dtype;
    return convert_computed(b_, load(group, slot, spot), dtype, instr.type);
  }
  if (slot == group.outer.size()) return b_.splat(spot.position);
  if (slot + 1 < group.outer.size()) return b_.splat(group.outer[slot]);
  Value* first =
      b_.add(group.outer[slot], b_.i64(int64_t{spot.vector} * b_.lanes()));
  return b_.add(b_.splat(first), b_.iota(b_.i64()));
}

Value* LaneRows::load(const Group& group, size_t operand, Spot spot) {
  const program::AccessForm& access = loops_.access(operand);
  Value* from = element(group, operand, spot);
  if (access.outer.back() == 0) return b_.load_broadcast(access.dtype, from);
  return b_.load(access.dtype, from, group.mask);
}

void LaneRows::store(const Group& group, size_t result, Value* value,
                     Spot spot) {
  const size_t operand = loops_.inputs.size() + result;
  b_.store(loops_.access(operand).dtype, value, element(group, operand, spot),
           group.mask);
}

Value* LaneRows::element(const Group& group, size_t operand, Spot spot) {
  const program::AccessForm& access = loops_.access(operand);
  llvm::Type* type = b_.memory_type(access.dtype);
  Value* row = group.operands[operand];
  if (spot.position != nullptr && access.inner != 0) {
    row = b_.offset(row, type,
                    b_.mul(spot.position, arguments_.accesses[operand].inner));
  }
  const bool repeated = access.outer.back() == 0;
  return repeated ? row
                  : b_.offset(row, type, int64_t{spot.vector} * b_.lanes());
}

// Where a value of the rows lies in scratch: all rows of a position together.
Value* LaneRows::buffer(int32_t id, Spot spot) {
  size_t at = 0;
  while (schedule_.buffer_ids[at] != id) ++at;
  llvm::Type* type = b_.memory_type(body_.instrs[size_t(id)].type);
  Value* start =
      b_.offset_bytes(KernelArgs(b_).scratch(),
                      int64_t(schedule_.buffer_offsets[at]) * code_.lanes);
  Value* rows =
      b_.offset(start, type, b_.mul(spot.position, b_.i64(code_.lanes)));
  return b_.offset(rows, type, int64_t{spot.vector} * b_.lanes());
}

}  // namespace fxjit::jit
