#include "jit/emit/kernel_function.h"
#include "jit/emit/skeletons.h"
#include "jit/emit/winograd/parts.h"

namespace fxjit::jit {
namespace {

using program::TileAccess;
using program::WinogradForm;
using program::WinogradNumber;

class Winograd {
 public:
  Winograd(VectorBuilder& b, const WinogradForm& form)
      : b_(b), form_(form), call_(b), part_{b, form, call_.data()} {}

  void emit() {
    const size_t operands = 2 + form_.extras.size() + form_.outputs.size();
    for (size_t i = 0; i < operands; ++i) operands_.push_back(call_.operand(i));
    read_numbers();
    inputs_ = call_.scratch();
    sums_ = floats(inputs_, number(WinogradNumber::sums_at));
    zeros_ = floats(inputs_, number(WinogradNumber::zeros_at));
    places_ = floats(inputs_, number(WinogradNumber::places_at));
    transform_ = make_winograd_input(b_, form_);
    multiply_ = make_winograd_sums(b_, form_);
    Value* outside =
        b_.ir().CreateTrunc(number(WinogradNumber::outside), b_.i32());
    b_.loop(b_.i64(0), words_, b_.i64(1),
            [&](Value* word) { b_.store_raw(outside, floats(zeros_, word)); });
    b_.loop(call_.begin(), call_.end(), b_.i64(1),
            [&](Value* task) { emit_task(task, b_.eq(task, call_.begin())); });
    b_.ret();
  }

 private:
  Value* number(WinogradNumber which) { return part_.number(which); }
  Value* floats(Value* base, Value* count) {
    return b_.offset(base, b_.f32(), count);
  }
  Value* times(Value* index, int64_t factor) {
    return part_.times(index, factor);
  }
  Value* over(Value* index, Value* divisor) {
    return b_.ir().CreateUDiv(index, divisor);
  }
  Value* modulo(Value* index, Value* divisor) {
    return b_.ir().CreateURem(index, divisor);
  }

  void read_numbers() {
    words_ = number(WinogradNumber::words);
    out_height_ = number(WinogradNumber::out_height);
    out_width_ = number(WinogradNumber::out_width);
    tiles_ = number(WinogradNumber::tiles);
    panels_ = number(WinogradNumber::panels);
  }

  void emit_task(Value* task, Value* is_first) {
    Value* panel = modulo(task, panels_);
    Value* block = over(task, panels_);
    Value* all = number(WinogradNumber::groups);
    Value* blocks = number(WinogradNumber::tile_blocks);
    Value* first = over(b_.mul(block, all), blocks);
    Value* last = over(b_.mul(b_.add(block, b_.i64(1)), all), blocks);
    Value* start = times(first, form_.group);
    Value* end = times(last, form_.group);
    const Place place = place_of(start);
    Value* is_new = b_.bit_or(is_first, b_.eq(panel, b_.i64(0)));
    b_.if_then(is_new, [&] { emit_inputs(start, end, place); });
    emit_sums(panel, b_.sub(last, first));
    emit_outputs(panel, start, b_.min(end, tiles_), place);
  }

  // A tile's image and first pixel.
  struct Place {
    Value *image, *y, *x;
  };
  Place place_of(Value* tile) {
    const auto tiles = [&](Value* size) {
      return over(b_.add(size, b_.i64(form_.tile - 1)), b_.i64(form_.tile));
    };
    Value* across = tiles(out_width_);
    Value* per_image = b_.mul(across, tiles(out_height_));
    Value* in_image = modulo(tile, per_image);
    return {over(tile, per_image), times(over(in_image, across), form_.tile),
            times(modulo(in_image, across), form_.tile)};
  }
  // The place after `place`. Places are counted on, because dividing by sizes
  // that are arguments takes long.
  Place next(const Place& place) {
    Value* zero = b_.i64(0);
    Value* x = b_.add(place.x, b_.i64(form_.tile));
    Value* row_ends = b_.ir().CreateICmpSGE(x, out_width_);
    Value* y =
        b_.select(row_ends, b_.add(place.y, b_.i64(form_.tile)), place.y);
    Value* image_ends = b_.ir().CreateICmpSGE(y, out_height_);
    return {b_.select(image_ends, b_.add(place.image, b_.i64(1)), place.image),
            b_.select(image_ends, zero, y), b_.select(row_ends, zero, x)};
  }
  void for_each_tile(Value* start, Value* end, const Place& first,
                     llvm::function_ref<Place(Value*, const Place&)> body) {
    b_.loop(start, end, b_.i64(1), {first.image, first.y, first.x},
            [&](Value* tile, const Values& at) {
              const Place place = body(tile, {at[0], at[1], at[2]});
              return Values{place.image, place.y, place.x};
            });
  }

  // Tiles behind the last one are copies of it.
  void emit_inputs(Value* start, Value* end, const Place& first) {
    Value* last = b_.sub(tiles_, b_.i64(1));
    for_each_tile(start, end, first, [&](Value* tile, const Place& place) {
      emit_places(place);
      Value* out =
          floats(inputs_, times(b_.sub(tile, start), form_.tile_floats()));
      b_.ir().CreateCall(transform_, {part_.numbers, places_, out});
      const Place after = next(place);
      Value* more = b_.lt(tile, last);
      return Place{b_.select(more, after.image, place.image),
                   b_.select(more, after.y, place.y),
                   b_.select(more, after.x, place.x)};
    });
  }

  // Addresses of the pixels of a tile's input, those outside being constant: a
  // vector for each row.
  void emit_places(const Place& place) {
    const auto lanes = static_cast<int>(form_.places_row());
    const auto stride = [&](WinogradNumber which) {
      return b_.splat(number(which), lanes);
    };
    llvm::Type* type = b_.memory_type(form_.input);
    Value* image =
        b_.offset(operands_[0], type,
                  b_.mul(place.image, number(WinogradNumber::input_batch)));
    Value* left = b_.sub(place.x, number(WinogradNumber::pad_left));
    Value* columns = b_.add(b_.splat(left, lanes), b_.iota(b_.i64(), lanes));
    Value* columns_inside =
        b_.lt(columns, stride(WinogradNumber::width), /*is_unsigned=*/true);
    Value* offsets =
        b_.ir().CreateMul(columns, stride(WinogradNumber::input_column));
    Value* zeros = b_.splat(zeros_, lanes);
    Value* top = b_.sub(place.y, number(WinogradNumber::pad_top));
    for (int64_t r = 0; r < form_.points(); ++r) {
      Value* y = b_.add(top, b_.i64(r));
      Value* start = b_.mul(y, number(WinogradNumber::input_row));
      Value* row = b_.add(offsets, b_.splat(start, lanes));
      Value* pixels = b_.ir().CreateGEP(type, image, row);
      Value* row_inside = b_.splat(
          b_.lt(y, number(WinogradNumber::height), /*is_unsigned=*/true),
          lanes);
      b_.store_raw(
          b_.select(b_.bit_and(columns_inside, row_inside), pixels, zeros),
          b_.offset(places_, b_.ptr(), r * form_.places_row()), 8);
    }
  }

  // Frequency by frequency, a group of tiles at a time.
  void emit_sums(Value* panel, Value* groups) {
    Value* each = times(words_, form_.width());
    Value* first =
        floats(operands_[1], b_.mul(panel, times(each, form_.frequencies())));
    b_.loop(b_.i64(0), b_.i64(form_.frequencies()), b_.i64(1), [&](Value* f) {
      Value* weights = floats(first, b_.mul(f, each));
      Value* inputs = floats(inputs_, times(f, form_.lanes));
      Value* sums = floats(sums_, times(f, form_.width()));
      b_.loop(b_.i64(0), groups, b_.i64(1), [&](Value* group) {
        Value* tile = times(group, form_.group);
        b_.ir().CreateCall(
            multiply_,
            {part_.numbers, floats(inputs, times(tile, form_.tile_floats())),
             weights, floats(sums, times(tile, form_.sums_floats())),
             ahead_of(weights, each, group)});
      });
    });
  }
  // The address from which a group prefetches. The first two groups prefetch
  // half of the next frequency's weights each, the others what they read
  // anyway. Prefetching behind the end of memory is harmless.
  Value* ahead_of(Value* weights, Value* each, Value* group) {
    Value* half = b_.mul(group, b_.ir().CreateUDiv(each, b_.i64(2)));
    Value* next = floats(weights, b_.add(each, half));
    return b_.select(b_.lt(group, b_.i64(2)), next, weights);
  }

  void emit_outputs(Value* panel, Value* start, Value* end,
                    const Place& first) {
    const auto emit = [&](bool last_panel) {
      llvm::Function* output = make_winograd_output(b_, form_, last_panel);
      for_each_tile(start, end, first, [&](Value* tile, const Place& place) {
        emit_output(output, panel, b_.sub(tile, start), place);
        return next(place);
      });
      return Values{};
    };
    if (!form_.whole_panels || !form_.last_panel) {
      emit(form_.last_panel);
      return;
    }
    b_.if_else(
        b_.eq(panel, b_.sub(panels_, b_.i64(1))), [&] { return emit(true); },
        [&] { return emit(false); });
  }

  void emit_output(llvm::Function* output, Value* panel, Value* in_block,
                   const Place& place) {
    Value* pixel = b_.add(b_.mul(place.y, out_width_), place.x);
    Values args{part_.numbers,
                floats(sums_, times(in_block, form_.sums_floats()))};
    const auto add = [&](const TileAccess& access) {
      const size_t i = args.size() - 2;
      Value* elements = b_.mul(place.image, part_.batch_stride(i));
      if (access.row != 0)
        elements = b_.add(elements, b_.mul(pixel, part_.row_stride(i)));
      elements = b_.add(elements, times(panel, access.column * form_.width()));
      args.push_back(
          b_.offset(operands_[2 + i], b_.memory_type(access.dtype), elements));
    };
    for (const TileAccess& access : form_.extras) add(access);
    for (const TileAccess& access : form_.outputs) add(access);
    const auto left = [&](Value* size, Value* at) {
      return b_.min(b_.sub(size, at), b_.i64(form_.tile));
    };
    args.push_back(left(out_height_, place.y));
    args.push_back(left(out_width_, place.x));
    b_.ir().CreateCall(output, args);
  }

  VectorBuilder& b_;
  const WinogradForm& form_;
  KernelArgs call_;
  WinogradPart part_;
  Values operands_;
  Value *words_ = nullptr, *out_height_ = nullptr, *out_width_ = nullptr,
        *tiles_ = nullptr, *panels_ = nullptr;
  Value* inputs_ = nullptr;
  Value* sums_ = nullptr;
  Value* zeros_ = nullptr;
  Value* places_ = nullptr;
  llvm::Function* transform_ = nullptr;
  llvm::Function* multiply_ = nullptr;
};

}  // namespace

void emit(VectorBuilder& b, const WinogradForm& form) {
  Winograd(b, form).emit();
}

}  // namespace fxjit::jit
