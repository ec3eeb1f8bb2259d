#include "jit/emit/loop_epilogue.h"

#include <algorithm>

#include "jit/emit/body.h"
#include "jit/emit/epilogue.h"
#include "jit/emit/interleave.h"

namespace fxjit::jit {

LoopEpilogue::LoopEpilogue(VectorBuilder& b, const program::LoopForm& loops,
                           const ScalarBody& body, int64_t lanes, bool narrow,
                           size_t first)
    : b(b),
      lanes(int(lanes)),
      args(b),
      arguments(b, loops),
      loops_(loops),
      body_(body),
      narrow_(narrow) {
  for (size_t i = 0; i < loops.operands(); ++i)
    bases.push_back(args.operand(first + i));
}

Value* LoopEpilogue::number_at(size_t place) const {
  const size_t first = program::ArgumentPlaces(loops_).end();
  return load_constant(b, b.i64(), args.data(),
                       (first + place) * sizeof(int64_t));
}

Place LoopEpilogue::place(Value* first, Value* size) const {
  return {first, narrow_ ? b.sub(size, first) : nullptr, lanes};
}

Values LoopEpilogue::each_vector(
    Value* size, const Values& init,
    llvm::function_ref<Values(Value*, Value*, const Values&)> body) const {
  Value* last = b.sub(size, b.i64(lanes));
  return b.loop(b.i64(0), size, b.i64(lanes), init,
                [&](Value* c, const Values& carried) {
                  return body(c, narrow_ ? c : b.min(c, last), carried);
                });
}

void LoopEpilogue::each_vector(
    Value* size, llvm::function_ref<void(Value*, Value*)> body) const {
  each_vector(size, {}, [&](Value* c, Value* first, const Values&) {
    body(c, first);
    return Values{};
  });
}

Values LoopEpilogue::moved(const Values& from, size_t first,
                           const Values& at) const {
  Values rows;
  for (size_t i = 0; i < loops_.operands(); ++i) {
    const Values& all = arguments.accesses[i].outer;
    const auto begin = all.begin() + int64_t(first);
    rows.push_back(point_address(b, from[i], loops_.access(i).dtype,
                                 {begin, begin + int64_t(at.size())}, at));
  }
  return rows;
}

Values LoopEpilogue::results_of(Value* sum, const Values& rows,
                                const Place& place) const {
  BodyValues values(b, body_, lanes, [&](BodyValues&, int32_t id) {
    const ScalarInstr& instr = body_.instrs[size_t(id)];
    if (instr.prim != Prim::input) return static_cast<Value*>(nullptr);
    if (instr.slot == 0) return sum;
    const auto slot = size_t(instr.slot - 1);
    const program::AccessForm& access = loops_.inputs[slot];
    Value* loaded =
        load_at(b, access.dtype, access.inner.number(), rows[slot], place);
    return convert_computed(b, loaded, access.dtype, instr.type);
  });
  Values results;
  for (size_t i = 0; i < loops_.outputs.size(); ++i)
    results.push_back(values.result(i, loops_.outputs[i].dtype));
  return results;
}

void LoopEpilogue::emit_epilogues(const Values& sums,
                                  const std::vector<Values>& rows,
                                  const Place& place) const {
  const auto together = size_t(epilogue_vectors(body_));
  const size_t extras = loops_.inputs.size();
  for (size_t first = 0; first < sums.size(); first += together) {
    const size_t end = std::min(first + together, sums.size());
    const SideBySide side_by_side(b);
    std::vector<Values> results;
    for (size_t i = first; i < end; ++i)
      results.push_back(results_of(sums[i], rows[i], place));
    if (results.size() > 1) side_by_side.arrange();
    for (size_t i = first; i < end; ++i)
      for (size_t k = 0; k < loops_.outputs.size(); ++k) {
        const program::AccessForm& access = loops_.outputs[k];
        store_at(b, access.dtype, access.inner.number(), results[i - first][k],
                 rows[i][extras + k], place);
      }
  }
}

void LoopEpilogue::emit_strip(Value* sums, const Values& rows) const {
  each_vector(arguments.inner, [&](Value*, Value* first) {
    Value* sum = b.load_raw(b.vec(b.f32(), lanes), floats(sums, first));
    emit_epilogue(sum, rows, place(first, arguments.inner));
  });
}

}  // namespace fxjit::jit
