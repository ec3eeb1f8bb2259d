#include <limits>

#include "jit/emit/body.h"
#include "jit/emit/skeletons.h"
#include "jit/emit/windows/parts.h"

namespace fxjit::jit {

using program::WindowCombine;
using program::WindowForm;
using program::WindowNumber;

WindowParts::WindowParts(VectorBuilder& b, const WindowForm& form)
    : b(b),
      form(form),
      lanes(int(form.lanes)),
      args(b),
      arguments(b, form.loops) {
  size_t next = 0;
  input = args.operand(next++);
  if (form.combine == WindowCombine::products) weights = args.operand(next++);
  if (form.has_bias) bias = args.operand(next++);
  for (size_t i = 0; i < operands(); ++i) bases.push_back(args.operand(next++));
  zeros = args.scratch();
  table = floats(args.scratch(), number(WindowNumber::weights_at));
  strip = floats(args.scratch(), number(WindowNumber::strip_at));
}

Value* WindowParts::number(WindowNumber which) const {
  const size_t first = program::ArgumentPlaces(form.loops).end();
  return load_constant(b, b.i64(), args.data(),
                       (first + static_cast<size_t>(which)) * sizeof(int64_t));
}

Value* WindowParts::outside() const {
  if (form.input != DType::f32)
    return b.ir().CreateTrunc(number(WindowNumber::outside), b.i8());
  return b.f32(form.combine == WindowCombine::maximum
                   ? -std::numeric_limits<double>::infinity()
                   : 0);
}

void WindowParts::fill_outside(Value* count) const {
  b.loop(b.i64(0), count, b.i64(1),
         [&](Value* i) { b.store_raw(outside(), elements(zeros, i)); });
}

Place WindowParts::place(Value* first, Value* size) const {
  return {first, form.narrow ? b.sub(size, first) : nullptr, lanes};
}

Values WindowParts::each_vector(
    Value* size, const Values& init,
    llvm::function_ref<Values(Value*, Value*, const Values&)> body) const {
  Value* last = b.sub(size, b.i64(lanes));
  return b.loop(b.i64(0), size, b.i64(lanes), init,
                [&](Value* c, const Values& carried) {
                  return body(c, form.narrow ? c : b.min(c, last), carried);
                });
}

void WindowParts::each_vector(
    Value* size, llvm::function_ref<void(Value*, Value*)> body) const {
  each_vector(size, {}, [&](Value* c, Value* first, const Values&) {
    body(c, first);
    return Values{};
  });
}

Values WindowParts::moved(const Values& from, size_t first,
                          const Values& at) const {
  Values rows;
  for (size_t i = 0; i < operands(); ++i) {
    const Values& all = arguments.accesses[i].outer;
    const auto begin = all.begin() + int64_t(first);
    rows.push_back(point_address(b, from[i], form.loops.access(i).dtype,
                                 {begin, begin + int64_t(at.size())}, at));
  }
  return rows;
}

void WindowParts::emit_epilogue(Value* sum, const Values& rows,
                                const Place& place) const {
  const ScalarBody& body = form.epilogue;
  BodyValues values(b, body, lanes, [&](BodyValues&, int32_t id) {
    const ScalarInstr& instr = body.instrs[size_t(id)];
    if (instr.prim != Prim::input) return static_cast<Value*>(nullptr);
    if (instr.slot == 0) return sum;
    const auto slot = size_t(instr.slot - 1);
    const program::AccessForm& access = form.loops.inputs[slot];
    Value* loaded =
        load_at(b, access.dtype, access.inner.number(), rows[slot], place);
    return convert_computed(b, loaded, access.dtype, instr.type);
  });
  const size_t extras = form.loops.inputs.size();
  Values results;
  for (size_t i = 0; i < form.loops.outputs.size(); ++i)
    results.push_back(values.result(i, form.loops.outputs[i].dtype));
  for (size_t i = 0; i < results.size(); ++i) {
    const program::AccessForm& access = form.loops.outputs[i];
    store_at(b, access.dtype, access.inner.number(), results[i],
             rows[extras + i], place);
  }
}

void WindowParts::emit_strip(Value* sums, const Values& rows) const {
  each_vector(arguments.inner, [&](Value*, Value* first) {
    Value* sum = b.load_raw(b.vec(b.f32(), lanes), floats(sums, first));
    emit_epilogue(sum, rows, place(first, arguments.inner));
  });
}

void emit(VectorBuilder& b, const WindowForm& form) {
  const WindowParts parts(b, form);
  const auto loops = form.channels_inner ? emit_channels
                     : form.has_ring     ? emit_ring
                                         : emit_planes;
  loops(parts);
  b.ret();
}

}  // namespace fxjit::jit
