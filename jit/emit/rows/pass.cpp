#include "jit/emit/rows/pass.h"

#include <algorithm>

#include "jit/emit/interleave.h"
#include "jit/emit/rows/shape.h"
#include "jit/emit/vector_math.h"
#include "src/program/rows/step.h"

namespace fxjit::jit {
namespace {

// How far ahead of an expensive pass its inputs are prefetched: about 200 ns of
// work, which is more than the 64 lines or so that the processor prefetches by
// itself.
constexpr int64_t kPrefetchBytes = 2048;

bool is_constant(Value* number) { return llvm::isa<llvm::Constant>(number); }

// The stride along the row. Crosswise operands have an argument as their
// stride; the pass reads them from scratch, where elements lie side by side.
int64_t row_stride(const program::AccessForm& access) {
  return access.inner.is_argument() ? 1 : access.inner.number();
}

Value* load_input(VectorBuilder& b, const Row& row, const ScalarInstr& instr,
                  const Place& place) {
  const auto& inputs = row.form.loops.inputs;
  const program::AccessForm& access = inputs[size_t(instr.slot)];
  Value* base = row.operands[size_t(instr.slot)];
  Value* loaded = nullptr;
  if (access.gathers_elements) {
    const auto at = size_t(access.gather_slot);
    const program::AccessForm& index = inputs[at];
    Value* indices =
        load_at(b, index.dtype, row_stride(index), row.operands[at], place);
    loaded = gather_elements(b, KernelArgs(b), base, access.dtype,
                             row.arguments.accesses[size_t(instr.slot)],
                             indices, index.dtype, place);
  } else {
    loaded = load_at(b, access.dtype, row_stride(access), base, place);
  }
  return convert_computed(b, loaded, access.dtype, instr.type);
}

// The value of an instruction that needs no computing here; null for others.
Value* known_value(VectorBuilder& b, const Row& row, const Place& place,
                   int32_t pass, BodyValues& values, int32_t id) {
  const ScalarInstr& instr = row.body().instrs[size_t(id)];
  if (!row.schedule().varies[size_t(id)]) return row.splats[size_t(id)];
  if (instr.prim == Prim::input) return load_input(b, row, instr, place);
  if (instr.prim == Prim::index) {
    return b.add(b.splat(place.first), b.iota(b.i64()));
  }
  Value* buffer = row.buffers[size_t(id)];
  if (buffer != nullptr && row.schedule().level[size_t(id)] < pass) {
    return b.load(instr.type,
                  b.offset(buffer, b.memory_type(instr.type), place.first));
  }
  if (row.schedule().softmax[size_t(id)]) {
    return emit_exp_softmax(b, values.get(instr.args[0]));
  }
  return nullptr;
}

}  // namespace

BodyValues row_values(VectorBuilder& b, const Row& row, const Place& place,
                      int32_t pass) {
  return BodyValues(b, row.body(), b.lanes(),
                    [&b, &row, place, pass](BodyValues& values, int32_t id) {
                      return known_value(b, row, place, pass, values, id);
                    });
}

RowPass::RowPass(VectorBuilder& b, Row& row, size_t number)
    : b_(b),
      row_(row),
      number_(int32_t(number)),
      pass_(row.schedule().passes[number]),
      body_(row.body()),
      copies_(row_unroll(b, row.form, number)),
      heavy_(is_heavy(row.form, number)),
      order_(pass_instructions(row.form, number)) {}

Values RowPass::whole_row() {
  if (!row_.resident.empty()) return finish(resident(identities()));
  return finish(rest(strip(b_.i64(0), whole(copies_), copies_, identities())));
}

void RowPass::chunks(Value* first, Value* last) {
  Value* stop = b_.min(last, whole(copies_));
  b_.loop(first, stop, b_.i64(int64_t{b_.lanes()} * copies_),
          [&](Value* i) { vectors(i, copies_, {}); });
  b_.if_then(b_.eq(last, row_.arguments.inner), [&] { rest({}); });
}

Value* RowPass::whole(int vectors) {
  return b_.bit_and(row_.arguments.inner,
                    b_.i64(-int64_t{b_.lanes()} * vectors));
}

Values RowPass::strip(Value* lo, Value* hi, int copies,
                      const Values& accumulators) {
  Value* step = b_.i64(int64_t{b_.lanes()} * copies);
  if (lo == hi) return accumulators;
  if (is_constant(hi) && b_.add(lo, step) == hi)
    return vectors(lo, copies, accumulators);
  return b_.loop(lo, hi, step, accumulators,
                 [&](Value* i, const Values& carried) {
                   return vectors(i, copies, carried);
                 });
}

// Emits `copies` neighbouring vectors, instruction by instruction side by side,
// because one vector alone would wait for each result of a long chain. Stores
// come after all loads: LLVM cannot tell that they never overlap and would not
// mix the vectors otherwise.
Values RowPass::vectors(Value* first, int copies, const Values& accumulators) {
  Values next = accumulators;
  const SideBySide side_by_side(b_);
  std::deque<std::pair<BodyValues, Place>> lanes;
  for (int copy = 0; copy < copies; ++copy) {
    const Place place{b_.add(first, b_.i64(int64_t{copy} * b_.lanes()))};
    lanes.emplace_back(row_values(b_, row_, place, number_), place);
  }
  for (int32_t id : order_) {
    for (auto& [values, place] : lanes) {
      if (!values.is_part(id)) values.get(id);
    }
  }
  int copy = 0;
  for (auto& [values, place] : lanes) accumulate(values, place, copy++, next);
  if (heavy_) prefetch_inputs(first, copies);
  if (heavy_ && b_.long_tables()) side_by_side.arrange();
  for (auto& [values, place] : lanes) store(values, place);
  return next;
}

void RowPass::prefetch_inputs(Value* first, int copies) {
  for (int32_t id : order_) {
    const ScalarInstr& instr = body_.instrs[size_t(id)];
    if (instr.prim != Prim::input) continue;
    const auto slot = size_t(instr.slot);
    const std::vector<bool>& streams = row_.form.streams;
    if (slot >= streams.size() || !streams[slot]) continue;
    const program::AccessForm& access = row_.form.loops.inputs[slot];
    Value* from = b_.offset(row_.operands[size_t(instr.slot)],
                            b_.memory_type(access.dtype), first);
    const int64_t bytes =
        int64_t{copies} * b_.lanes() * dtype_size(access.dtype);
    for (int64_t at = 0; at < bytes; at += kCacheLine) {
      b_.prefetch(b_.offset_bytes(from, kPrefetchBytes + at));
    }
  }
}

// If the length is an argument, whole vectors and the partial last one share
// their code.
Values RowPass::rest(const Values& accumulators) {
  Value* inner = row_.arguments.inner;
  Value* main = whole(copies_);
  Value* full = whole(1);
  if (!is_constant(inner))
    return b_.loop(
        main, inner, b_.i64(b_.lanes()), accumulators,
        [&](Value* i, const Values& before) { return part(i, before); });
  const Values sums = strip(main, full, 1, accumulators);
  return full == inner ? sums : part(full, sums);
}

Values RowPass::part(Value* first, const Values& accumulators) {
  Values next = accumulators;
  const Place place{first, b_.sub(row_.arguments.inner, first)};
  BodyValues values = row_values(b_, row_, place, number_);
  accumulate(values, place, 0, next);
  store(values, place);
  return next;
}

Values RowPass::resident(const Values& accumulators) {
  Values next = accumulators;
  std::vector<Place> places;
  const int64_t inner = row_.form.loops.inner.number();
  for (size_t i = 0; i < row_.resident.size(); ++i) {
    const int64_t first = int64_t(i) * b_.lanes();
    const int64_t active = std::min<int64_t>(b_.lanes(), inner - first);
    places.push_back(
        {b_.i64(first), active == b_.lanes() ? nullptr : b_.i64(active)});
    accumulate(row_.resident[i], places[i], int(i) % copies_, next);
  }
  for (size_t i = 0; i < places.size(); ++i) store(row_.resident[i], places[i]);
  return next;
}

void RowPass::accumulate(BodyValues& values, const Place& place, int copy,
                         Values& accumulators) {
  Value* mask = active_mask(b_, place);
  for (size_t r = 0; r < pass_.reductions.size(); ++r) {
    const ScalarInstr& instr = body_.instrs[size_t(pass_.reductions[r])];
    Value* value = values.reduced(instr);
    Value*& accumulator = accumulators[r * size_t(copies_) + size_t(copy)];
    accumulator =
        reduction_step(b_, instr, accumulator, value, mask,
                       nan_rule(row_.schedule(), pass_.reductions[r]));
  }
  // What is stored is computed here, with the loads.
  for (int32_t r : pass_.stores) values.get(body_.results[size_t(r)]);
  for (int32_t id : pass_.buffers) values.get(id);
}

void RowPass::store(BodyValues& values, const Place& place) {
  for (int32_t r : pass_.stores) {
    const program::LoopForm& loops = row_.form.loops;
    const program::AccessForm& access = loops.outputs[size_t(r)];
    Value* base = row_.operands[loops.inputs.size() + size_t(r)];
    store_at(b_, access.dtype, row_stride(access),
             values.result(size_t(r), access.dtype), base, place);
  }
  // Buffers have room for a whole last vector.
  for (int32_t id : pass_.buffers) {
    Value* buffer = row_.buffers[size_t(id)];
    if (buffer == nullptr) continue;
    const DType type = body_.instrs[size_t(id)].type;
    b_.store(type, values.get(id),
             b_.offset(buffer, b_.memory_type(type), place.first));
  }
}

Values RowPass::identities() const {
  Values accumulators;
  for (int32_t id : pass_.reductions) {
    Value* identity =
        reduction_identity(b_, body_.instrs[size_t(id)], b_.lanes());
    accumulators.insert(accumulators.end(), size_t(copies_), identity);
  }
  return accumulators;
}

// Combines the accumulators in pairs, pairs of pairs and so on, then the lanes.
Values RowPass::finish(const Values& accumulators) const {
  Values results;
  for (size_t r = 0; r < pass_.reductions.size(); ++r) {
    const ScalarInstr& instr = body_.instrs[size_t(pass_.reductions[r])];
    const auto first = accumulators.begin() + std::ptrdiff_t(r) * copies_;
    Values parts(first, first + copies_);
    const NanRule nan = nan_rule(row_.schedule(), pass_.reductions[r]);
    for (size_t half = parts.size() / 2; half >= 1; half /= 2) {
      for (size_t i = 0; i < half; ++i) {
        parts[i] = reduction_step(b_, instr, parts[i], parts[i + half],
                                  /*mask=*/nullptr, nan);
      }
    }
    results.push_back(reduce_lanes(b_, instr, parts[0], nan));
  }
  return results;
}

}  // namespace fxjit::jit
