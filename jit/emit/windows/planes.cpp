// Loops over the tiles of windows over planes.
#include "jit/emit/windows/parts.h"
#include "jit/emit/windows/plane_tile.h"

namespace fxjit::jit {
namespace {

using program::WindowCombine;
using program::WindowForm;
using program::WindowNumber;

class Planes {
 public:
  explicit Planes(const WindowParts& parts)
      : parts_(parts),
        form_(parts.form),
        b_(parts.b),
        width_(parts.arguments.inner) {}

  void emit() {
    tile_.pad = parts_.number(WindowNumber::pad_width);
    tile_.width = parts_.number(WindowNumber::width);
    tile_.outside = parts_.zeros;
    // Rows outside the input are read here.
    parts_.fill_outside(tile_.width);
    Values sizes(parts_.arguments.outer.begin(),
                 parts_.arguments.outer.end() - 1);
    sizes.push_back(parts_.number(WindowNumber::row_blocks));
    for (Value*& size : sizes) size = b_.max(size, b_.i64(1));
    // Places are counted up: divisions take as long as a tile.
    b_.loop(parts_.args.begin(), parts_.args.end(), b_.i64(1),
            unravel(b_, parts_.args.begin(), sizes),
            [&](Value*, const Values& at) {
              emit_task({at.begin(), at.end() - 1}, at.back());
              return next(at, sizes);
            });
  }

 private:
  // The point behind `at`, as unravel() counts them.
  Values next(Values at, const Values& sizes) {
    Value* carry = b_.i64(1);
    for (size_t d = at.size(); d-- > 0;) {
      Value* more = b_.add(at[d], carry);
      if (d == 0) {
        at[d] = more;
        break;
      }
      Value* is_over = b_.eq(more, sizes[d]);
      at[d] = b_.select(is_over, b_.i64(0), more);
      carry = b_.select(is_over, b_.i64(1), b_.i64(0));
    }
    return at;
  }

  // Block `block` of the rows of a plane of the result.
  void emit_task(const Values& point, Value* block) {
    Value* blocks = parts_.number(WindowNumber::row_blocks);
    set_weights(point[1]);
    set_planes(point);
    Value* each = parts_.number(WindowNumber::rows_of_block);
    Value* first = b_.mul(block, each);
    Value* is_last = b_.eq(block, b_.sub(blocks, b_.i64(1)));
    Value* end =
        b_.select(is_last, parts_.arguments.outer.back(), b_.add(first, each));
    if (form_.combine == WindowCombine::products)
      emit_products(first, end);
    else if (form_.combine == WindowCombine::maximum)
      emit_maximum(first, end);
    else
      emit_block(first, end);
  }

  void emit_products(Value* first, Value* end) {
    const auto emit = [&](bool exact) {
      tile_.exact = exact;
      emit_block(first, end);
      return Values{};
    };
    b_.if_else(
        parts_.has_special(first_weight_, b_.i64(form_.tap_count())),
        [&] { return emit(true); }, [&] { return emit(false); });
  }

  // A maximum of vectors that keeps NaN takes three instructions, a look at
  // what is loaded less than one: rows that met NaN are computed again.
  void emit_maximum(Value* first, Value* end) {
    Value* none = llvm::Constant::getNullValue(b_.vec(b_.i32()));
    if (seen_ == nullptr) seen_ = b_.stack_slot(none->getType());
    b_.store_raw(none, seen_);
    tile_.keeps_nan = false;
    emit_block(first, end);
    b_.if_then(b_.any(b_.ne(b_.load_raw(none->getType(), seen_), none)), [&] {
      tile_.keeps_nan = true;
      emit_block(first, end);
    });
  }

  // The rows from `first` to `end`; the last of them may be computed twice.
  void emit_block(Value* first, Value* end) {
    Value* last = b_.sub(end, b_.i64(form_.rows));
    b_.loop(first, end, b_.i64(form_.rows),
            [&](Value* y) { emit_rows(b_.min(y, last)); });
  }

  // The weights and the bias of a channel of the result.
  void set_weights(Value* channel) {
    tile_.weights.clear();
    tile_.table = parts_.table;
    tile_.bias =
        form_.has_bias
            ? b_.load_broadcast(DType::f32, parts_.floats(parts_.bias, channel))
            : nullptr;
    if (parts_.weights == nullptr) return;
    const int64_t taps = form_.tap_count();
    Value* first = parts_.floats(parts_.weights, b_.mul(channel, b_.i64(taps)));
    first_weight_ = first;
    const auto load = [&](Value* at) {
      return b_.load_broadcast(DType::f32, at);
    };
    if (program::holds_weights(taps)) {
      for (int64_t tap = 0; tap < taps; ++tap)
        tile_.weights.push_back(load(b_.offset(first, b_.f32(), tap)));
      return;
    }
    b_.loop(b_.i64(0), b_.i64(taps), b_.i64(1), [&](Value* tap) {
      b_.store_aligned(
          load(parts_.floats(first, tap)),
          parts_.floats(parts_.table, b_.mul(tap, b_.i64(b_.lanes()))));
    });
  }

  // The plane of the input, and those of the epilogue's operands.
  void set_planes(const Values& point) {
    Value* results = parts_.number(WindowNumber::multiplier);
    Value* channel = b_.if_else(
        b_.eq(results, b_.i64(1)), [&] { return Values{point[1]}; },
        [&] { return Values{b_.ir().CreateUDiv(point[1], results)}; })[0];
    Value* offset =
        b_.add(b_.mul(point[0], parts_.number(WindowNumber::image_step)),
               b_.mul(channel, parts_.number(WindowNumber::channel_step)));
    plane_ = parts_.floats(parts_.input, offset);
    depth_ = point[2];
    planes_ = parts_.moved(parts_.bases, 0, point);
  }

  // Results from row `y` on.
  void emit_rows(Value* y) {
    set_input_rows(y);
    std::vector<Values> rows;
    for (int64_t i = 0; i < form_.rows && !form_.has_strip; ++i)
      rows.push_back(operand_rows(b_.add(y, b_.i64(i))));
    emit_columns(rows);
    if (!form_.has_strip) return;
    b_.loop(b_.i64(0), b_.i64(form_.rows), b_.i64(1), [&](Value* i) {
      parts_.emit_strip(strip_row(i), operand_rows(b_.add(y, i)));
    });
  }

  void set_input_rows(Value* y) {
    const auto offset = [&](Value* place, int dim, int64_t distance,
                            WindowNumber pad) {
      Value* first = b_.mul(place, b_.i64(form_.strides[dim]));
      return b_.add(b_.sub(first, parts_.number(pad)), b_.i64(distance));
    };
    tile_.rows.clear();
    tile_.rows_inside.clear();
    for (int64_t k = 0; k < form_.taps[0]; ++k) {
      Value* z =
          offset(depth_, 0, k * form_.dilations[0], WindowNumber::pad_depth);
      Value* slice = parts_.floats(
          plane_, b_.mul(z, parts_.number(WindowNumber::depth_step)));
      // A slice outside has no rows.
      Value* height =
          b_.select(b_.lt(z, parts_.number(WindowNumber::depth), true),
                    parts_.number(WindowNumber::height), b_.i64(0));
      for (const auto& [distance, uses] : window_rows(form_)) {
        Value* row = offset(y, 1, distance, WindowNumber::pad_height);
        Value* is_inside = b_.lt(row, height, true);
        Value* at = parts_.floats(
            slice, b_.mul(row, parts_.number(WindowNumber::row_step)));
        tile_.rows_inside.push_back(is_inside);
        tile_.rows.push_back(b_.select(is_inside, at, parts_.zeros));
      }
    }
  }

  // Each operand's row `y`.
  Values operand_rows(Value* y) { return parts_.moved(planes_, 3, {y}); }

  // Places whose windows reach outside are computed with masks; the last vector
  // of a row overlaps the one before.
  void emit_columns(const std::vector<Values>& rows) {
    Value* first = parts_.number(WindowNumber::first_inside);
    Value* last = parts_.number(WindowNumber::last_inside);
    Value* end = first;
    for (int64_t vectors = form_.across;
         vectors > 0 && !form_.narrow && !tile_.exact; vectors /= 2)
      end = emit_inside(rows, end, last, vectors);
    Value* start = b_.select(b_.eq(first, b_.i64(0)), end, b_.i64(0));
    Value* lanes = b_.i64(b_.lanes());
    b_.loop_by(start, width_, [&](Value* x) {
      Value* column = form_.narrow ? x : b_.min(x, b_.sub(width_, lanes));
      looking([&] {
        store(rows, column, emit_plane_tile(b_, form_, tile_, column, 1, true));
      });
      Value* next = b_.add(x, lanes);
      return b_.select(b_.eq(next, first), b_.sub(end, x), lanes);
    });
  }

  // Tiles of `emit` add to what was seen of NaN.
  void looking(llvm::function_ref<void()> emit) {
    if (!looks()) return emit();
    tile_.seen = b_.load_raw(b_.vec(b_.i32()), seen_);
    emit();
    b_.store_raw(tile_.seen, seen_);
  }

  bool looks() const {
    return form_.combine == WindowCombine::maximum && !tile_.keeps_nan;
  }

  // From `first` on, so many vectors at a time; gives the first place that is
  // left.
  Value* emit_inside(const std::vector<Values>& rows, Value* first, Value* last,
                     int64_t vectors) {
    const int64_t step = vectors * b_.lanes();
    Value* end = b_.sub(last, b_.i64(step - b_.lanes() - 1));
    return b_.if_else(
        b_.lt(first, end),
        [&] {
          Value* left = first;
          looking([&] { left = emit_vectors(rows, first, end, vectors); });
          return Values{left};
        },
        [&] { return Values{first}; })[0];
  }

  // Carried are what was seen and the columns that tiles hand on.
  Value* emit_vectors(const std::vector<Values>& rows, Value* first, Value* end,
                      int64_t vectors) {
    Value* step = b_.i64(vectors * b_.lanes());
    Values before;
    if (program::carries_columns(form_))
      before = columns_before(b_, form_, tile_, first);
    Values init{first};
    if (looks()) init.push_back(tile_.seen);
    init.insert(init.end(), before.begin(), before.end());
    const auto take = [&](const Values& carried) {
      if (looks()) tile_.seen = carried[1];
      tile_.before.assign(carried.begin() + 1 + int(looks()), carried.end());
    };
    const Values left =
        b_.loop(first, end, step, init, [&](Value* x, const Values& carried) {
          take(carried);
          store(rows, x, emit_plane_tile(b_, form_, tile_, x, vectors, false));
          if (form_.fetches_ahead) fetch_ahead(rows, x);
          Values next{b_.add(x, step)};
          if (looks()) next.push_back(tile_.seen);
          next.insert(next.end(), tile_.before.begin(), tile_.before.end());
          return next;
        });
    take(left);
    return left[0];
  }

  void fetch_ahead(const std::vector<Values>& rows, Value* x) {
    Value* step = parts_.number(WindowNumber::row_step);
    Value* column = b_.mul(x, b_.i64(form_.strides[2]));
    Value* last = parts_.floats(tile_.rows.back(), column);
    for (int64_t i = 1; i <= form_.rows * form_.strides[1]; ++i)
      b_.prefetch(parts_.floats(last, b_.mul(step, b_.i64(i))));
    if (rows.empty()) return;
    const size_t output = form_.loops.operands() - 1;
    for (const Values& row : rows) {
      const Values& strides = parts_.arguments.accesses[output].outer;
      Value* ahead = b_.mul(strides.back(), b_.i64(form_.rows));
      b_.prefetch(parts_.floats(row[output], b_.add(x, ahead)));
    }
  }

  // ---- What is done to sums.

  Value* strip_row(Value* i) {
    Value* lanes = b_.i64(b_.lanes());
    Value* vectors =
        b_.ir().CreateUDiv(b_.add(width_, b_.sub(lanes, b_.i64(1))), lanes);
    return parts_.floats(parts_.strip, b_.mul(i, b_.mul(vectors, lanes)));
  }

  void store(const std::vector<Values>& rows, Value* column,
             const std::vector<Values>& sums) {
    for (size_t i = 0; i < sums.size(); ++i)
      for (size_t v = 0; v < sums[i].size(); ++v) {
        Value* x = b_.add(column, b_.i64(int64_t(v) * b_.lanes()));
        if (form_.has_strip)
          b_.store_raw(sums[i][v],
                       parts_.floats(strip_row(b_.i64(int64_t(i))), x));
        else
          parts_.emit_epilogue(sums[i][v], rows[i], place(x));
      }
  }

  Place place(Value* column) { return parts_.place(column, width_); }

  const WindowParts& parts_;
  const WindowForm& form_;
  VectorBuilder& b_;
  Value* width_;  // Of the result.
  PlaneTile tile_;
  // Of a task: the plane of the input and those of the epilogue's operands.
  Value* plane_ = nullptr;
  Value* depth_ = nullptr;
  Value* first_weight_ = nullptr;  // Of the channel.
  Value* seen_ = nullptr;          // Where PlaneTile::seen waits.
  Values planes_;
};

}  // namespace

void emit_planes(const WindowParts& parts) { Planes(parts).emit(); }

}  // namespace fxjit::jit
