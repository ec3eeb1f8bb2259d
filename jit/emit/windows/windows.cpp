#include <limits>

#include "jit/emit/skeletons.h"
#include "jit/emit/windows/parts.h"

namespace fxjit::jit {

using program::WindowCombine;
using program::WindowForm;
using program::WindowNumber;

WindowParts::WindowParts(VectorBuilder& b, const WindowForm& form)
    : LoopEpilogue(b, form.loops, form.epilogue, form.lanes, form.narrow,
                   form.own_operands()),
      form(form) {
  size_t next = 0;
  input = args.operand(next++);
  if (form.combine == WindowCombine::products) weights = args.operand(next++);
  if (form.has_bias) bias = args.operand(next++);
  zeros = args.scratch();
  table = floats(args.scratch(), number(WindowNumber::weights_at));
  strip = floats(args.scratch(), number(WindowNumber::strip_at));
}

Value* WindowParts::load(Value* base, const Place& place) const {
  const auto results = static_cast<int>(form.multiplier);
  if (results == 1)
    return convert_computed(b, load_at(b, form.input, 1, base, place),
                            form.input, DType::f32);
  Value* at = elements(base, b.ir().CreateUDiv(place.first, b.i64(results)));
  Value* loaded = nullptr;
  if (lanes == results) {
    loaded = b.load_broadcast(form.input, at, lanes);
  } else {
    std::vector<int> spread;
    for (int lane = 0; lane < lanes; ++lane) spread.push_back(lane / results);
    loaded = b.ir().CreateShuffleVector(b.load(form.input, at, lanes / results),
                                        spread);
  }
  return convert_computed(b, loaded, form.input, DType::f32);
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

void emit(VectorBuilder& b, const WindowForm& form) {
  const WindowParts parts(b, form);
  const auto loops = form.channels_inner ? emit_channels
                     : form.has_ring     ? emit_ring
                                         : emit_planes;
  loops(parts);
  b.ret();
}

}  // namespace fxjit::jit
