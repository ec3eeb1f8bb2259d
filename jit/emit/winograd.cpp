#include "jit/emit/winograd.h"

#include "jit/emit/kernel_function.h"
#include "jit/emit/winograd_parts.h"
#include "src/program/winograd.h"

namespace fxjit::jit {
namespace {

using program::TileAccess;
using program::WinogradShape;
using program::WinogradStep;

class Winograd {
 public:
  Winograd(VectorBuilder& b, const WinogradStep& step)
      : b_(b), step_(step), shape_(program::winograd_shape(step, b.level())) {}

  void emit() {
    if (shape_.tiles == 0) return b_.ret();
    const KernelArgs call(b_);
    const size_t operands = 2 + step_.extras.size() + step_.outputs.size();
    for (size_t i = 0; i < operands; ++i) operands_.push_back(call.operand(i));
    Value* scratch = call.scratch();
    inputs_ = b_.offset(scratch, b_.f32(), shape_.inputs_at);
    sums_ = b_.offset(scratch, b_.f32(), shape_.sums_at);
    zeros_ = b_.offset(scratch, b_.f32(), shape_.zeros_at);
    places_ = b_.offset(scratch, b_.f32(), shape_.places_at);
    transform_ = make_winograd_input(b_, step_, shape_);
    multiply_ = make_winograd_sums(b_, step_, shape_);
    b_.loop(b_.i64(0), b_.i64(step_.channels), b_.i64(1), [&](Value* c) {
      b_.store_raw(b_.f32(0), b_.offset(zeros_, b_.f32(), c));
    });
    b_.loop(call.begin(), call.end(), b_.i64(1),
            [&](Value* task) { emit_task(task, b_.eq(task, call.begin())); });
    b_.ret();
  }

 private:
  Value* times(Value* index, int64_t factor) {
    return b_.ir().CreateMul(index, b_.i64(factor));
  }
  Value* over(Value* index, int64_t divisor) {
    return b_.ir().CreateUDiv(index, b_.i64(divisor));
  }
  Value* at_most(Value* index, int64_t most) {
    return b_.ir().CreateBinaryIntrinsic(llvm::Intrinsic::smin, index,
                                         b_.i64(most));
  }
  Value* modulo(Value* index, int64_t divisor) {
    return b_.ir().CreateURem(index, b_.i64(divisor));
  }

  void emit_task(Value* task, Value* is_first) {
    const int64_t panels = shape_.panels.panels;
    Value* panel = modulo(task, panels);
    Value* block = over(task, panels);
    Value* first = over(times(block, shape_.groups), shape_.tile_blocks);
    Value* last = over(times(b_.add(block, b_.i64(1)), shape_.groups),
                       shape_.tile_blocks);
    Value* groups = b_.sub(last, first);
    Value* start = times(first, shape_.group);
    Value* is_new = b_.bit_or(is_first, b_.eq(panel, b_.i64(0)));
    b_.if_then(is_new, [&] { emit_inputs(start, times(last, shape_.group)); });
    emit_sums(panel, groups);
    emit_outputs(panel, start,
                 at_most(times(last, shape_.group), shape_.tiles));
  }

  // A tile's image and first pixel.
  struct Place {
    Value *image, *y, *x;
  };
  Place place_of(Value* tile) {
    const int64_t per_image = shape_.tiles_down * shape_.tiles_across;
    Value* in_image = modulo(tile, per_image);
    return {over(tile, per_image),
            times(over(in_image, shape_.tiles_across), step_.tile),
            times(modulo(in_image, shape_.tiles_across), step_.tile)};
  }

  // Tiles behind the last one are copies of it.
  void emit_inputs(Value* start, Value* end) {
    b_.loop(start, end, b_.i64(1), [&](Value* tile) {
      emit_places(place_of(at_most(tile, shape_.tiles - 1)));
      Value* out = b_.offset(inputs_, b_.f32(),
                             times(b_.sub(tile, start), shape_.tile_floats()));
      b_.ir().CreateCall(transform_, {places_, out});
    });
  }

  // Addresses of the pixels of a tile's input, those outside being zeros: a
  // vector for each row.
  void emit_places(const Place& place) {
    const auto lanes = static_cast<int>(shape_.places_row);
    const auto inside = [&](Value* at, int64_t size) {
      return b_.lt(at, b_.integer(at->getType(), size), true);
    };
    Value* image = b_.offset(operands_[0], b_.f32(),
                             times(place.image, step_.input_batch));
    Value* left = b_.sub(place.x, b_.i64(step_.pad_left));
    Value* columns = b_.add(b_.splat(left, lanes), b_.iota(b_.i64(), lanes));
    Value* columns_inside = inside(columns, step_.width);
    Value* offsets =
        b_.ir().CreateMul(columns, b_.splat(b_.i64(step_.input_column), lanes));
    Value* zeros = b_.splat(zeros_, lanes);
    for (int64_t r = 0; r < shape_.points; ++r) {
      Value* y = b_.add(place.y, b_.i64(r - step_.pad_top));
      Value* row = b_.add(offsets, b_.splat(times(y, step_.input_row), lanes));
      Value* pixels = b_.ir().CreateGEP(b_.f32(), image, row);
      Value* row_inside = b_.splat(inside(y, step_.height), lanes);
      b_.store_raw(
          b_.select(b_.bit_and(columns_inside, row_inside), pixels, zeros),
          b_.offset(places_, b_.ptr(), r * shape_.places_row), 8);
    }
  }

  // Frequency by frequency, a group of tiles at a time.
  void emit_sums(Value* panel, Value* groups) {
    const int64_t each = step_.channels * shape_.panels.width();
    Value* first = b_.offset(operands_[1], b_.f32(),
                             times(panel, shape_.panels.frequencies * each));
    b_.loop(
        b_.i64(0), b_.i64(shape_.panels.frequencies), b_.i64(1), [&](Value* f) {
          Value* weights = b_.offset(first, b_.f32(), times(f, each));
          Value* inputs =
              b_.offset(inputs_, b_.f32(), times(f, shape_.panels.lanes));
          Value* sums =
              b_.offset(sums_, b_.f32(), times(f, shape_.panels.width()));
          b_.loop(b_.i64(0), groups, b_.i64(1), [&](Value* group) {
            Value* tile = times(group, shape_.group);
            b_.ir().CreateCall(
                multiply_,
                {b_.offset(inputs, b_.f32(), times(tile, shape_.tile_floats())),
                 weights,
                 b_.offset(sums, b_.f32(), times(tile, shape_.sums_floats()))});
          });
        });
  }

  void emit_outputs(Value* panel, Value* start, Value* end) {
    const int64_t width = shape_.panels.width();
    const int64_t panels = shape_.panels.panels;
    const int64_t last = step_.features - (panels - 1) * width;
    const auto emit = [&](int64_t features) {
      llvm::Function* output =
          make_winograd_output(b_, step_, shape_, features);
      b_.loop(start, end, b_.i64(1), [&](Value* tile) {
        emit_output(output, panel, tile, b_.sub(tile, start));
      });
      return Values{};
    };
    if (last == width || panels == 1) {
      emit(last);
      return;
    }
    b_.if_else(
        b_.eq(panel, b_.i64(panels - 1)), [&] { return emit(last); },
        [&] { return emit(width); });
  }

  void emit_output(llvm::Function* output, Value* panel, Value* tile,
                   Value* in_block) {
    const Place place = place_of(tile);
    Value* pixel = b_.add(times(place.y, step_.out_width), place.x);
    Values args{
        b_.offset(sums_, b_.f32(), times(in_block, shape_.sums_floats()))};
    const auto add = [&](const TileAccess& access) {
      Value* elements =
          b_.add(times(place.image, access.batch), times(pixel, access.row));
      elements =
          b_.add(elements, times(panel, access.column * shape_.panels.width()));
      args.push_back(b_.offset(operands_[args.size() + 1],
                               b_.memory_type(access.dtype), elements));
    };
    for (const TileAccess& access : step_.extras) add(access);
    for (const TileAccess& access : step_.outputs) add(access);
    const auto left = [&](int64_t size, Value* at) {
      return at_most(b_.sub(b_.i64(size), at), step_.tile);
    };
    args.push_back(left(step_.out_height, place.y));
    args.push_back(left(step_.out_width, place.x));
    b_.ir().CreateCall(output, args);
  }

  VectorBuilder& b_;
  const WinogradStep& step_;
  WinogradShape shape_;
  Values operands_;
  Value* inputs_ = nullptr;
  Value* sums_ = nullptr;
  Value* zeros_ = nullptr;
  Value* places_ = nullptr;
  llvm::Function* transform_ = nullptr;
  llvm::Function* multiply_ = nullptr;
};

}  // namespace

void emit_winograd(VectorBuilder& b, const WinogradStep& step) {
  Winograd(b, step).emit();
}

}  // namespace fxjit::jit
