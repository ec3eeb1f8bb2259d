#include <limits>

#include "jit/emit/skeletons.h"
#include "jit/emit/windows/parts.h"
#include "src/weights/windows.h"

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
  if (form.packs_weights) {
    weights_head = b.load_scalar(DType::f32, weights);
    weights = b.offset(weights, b.f32(), weights::kWindowHead);
  }
  strip = floats(args.scratch(), number(WindowNumber::strip_at));
}

Value* WindowParts::has_special(llvm::function_ref<Value*()> sum) const {
  Value* found = form.packs_weights ? weights_head : sum();
  Value* zero = llvm::Constant::getNullValue(found->getType());
  return found->getType()->isVectorTy() ? b.any(b.ne(found, zero))
                                        : b.ne(found, zero);
}

Value* WindowParts::has_special(Value* first, Value* count) const {
  return has_special([&] {
    return b.loop(b.i64(0), count, b.i64(b.lanes()), {b.splat_f32(0)},
                  [&](Value* i, const Values& sums) {
                    Value* some = b.load(DType::f32, floats(first, i),
                                         b.tail_mask(b.sub(count, i)));
                    return Values{b.fma(some, b.splat_f32(0), sums[0])};
                  })[0];
  });
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

void WindowParts::each_tile(int64_t rows, int64_t across,
                            llvm::function_ref<void(const Tile&)> body) const {
  const auto walk = [&](Value* from, Value* to, int64_t step, auto visit) {
    Value* last = b.sub(to, b.i64(step));
    b.loop(from, to, b.i64(step),
           [&](Value* i) { visit(step == 1 ? i : b.min(i, last)); });
  };
  b.loop(args.begin(), args.end(), b.i64(1), [&](Value* task) {
    Value* blocks = number(WindowNumber::row_blocks);
    Value* slice = b.ir().CreateUDiv(task, blocks);
    Value* block = b.sub(task, b.mul(slice, blocks));
    const Values& sizes = arguments.outer;
    const Values point = unravel(b, slice, {sizes[0], sizes[1]});
    Tile tile;
    tile.image =
        elements(input, b.mul(point[0], number(WindowNumber::image_step)));
    tile.depth = point[1];
    tile.slices = moved(bases, 0, point);
    Value* each = number(WindowNumber::rows_of_block);
    Value* first = b.mul(block, each);
    Value* is_last = b.eq(block, b.sub(blocks, b.i64(1)));
    Value* end = b.select(is_last, sizes[2], b.add(first, each));
    walk(first, end, rows, [&](Value* y) {
      tile.y = y;
      walk(b.i64(0), sizes[3], across, [&](Value* x) {
        tile.x = x;
        body(tile);
      });
    });
  });
}

void emit(VectorBuilder& b, const WindowForm& form) {
  const WindowParts parts(b, form);
  const auto loops = form.sums_groups      ? emit_groups
                     : form.channels_inner ? emit_channels
                     : form.has_ring       ? emit_ring
                                           : emit_planes;
  loops(parts);
  b.ret();
}

}  // namespace fxjit::jit
