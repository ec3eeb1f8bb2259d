// Windows over planes: the loops around tiles, and the epilogue.
#include <limits>

#include "jit/emit/access.h"
#include "jit/emit/body.h"
#include "jit/emit/skeletons.h"
#include "jit/emit/windows/planes.h"

namespace fxjit::jit {
namespace {

using program::WindowCombine;
using program::WindowForm;
using program::WindowNumber;

class Windows {
 public:
  Windows(VectorBuilder& b, const WindowForm& form)
      : b_(b), form_(form), args_(b), arguments_(b, form.loops) {}

  void emit() {
    read_operands();
    // Rows outside the input are read here.
    b_.loop(b_.i64(0), number(WindowNumber::width), b_.i64(1), [&](Value* i) {
      b_.store_raw(outside(), b_.offset(zeros_, b_.f32(), i));
    });
    b_.loop(args_.begin(), args_.end(), b_.i64(1),
            [&](Value* task) { emit_task(task); });
    b_.ret();
  }

 private:
  Value* number(WindowNumber which) {
    const size_t first = program::ArgumentPlaces(form_.loops).end();
    return load_constant(
        b_, b_.i64(), args_.data(),
        (first + static_cast<size_t>(which)) * sizeof(int64_t));
  }
  Value* floats(Value* base, Value* count) {
    return b_.offset(base, b_.f32(), count);
  }
  Value* outside() {
    return b_.f32(form_.combine == WindowCombine::maximum
                      ? -std::numeric_limits<double>::infinity()
                      : 0);
  }
  size_t operands() const { return form_.loops.operands(); }

  void read_operands() {
    size_t next = 0;
    input_ = args_.operand(next++);
    if (form_.combine == WindowCombine::products)
      weights_ = args_.operand(next++);
    if (form_.has_bias) bias_ = args_.operand(next++);
    for (size_t i = 0; i < operands(); ++i)
      operands_.push_back(args_.operand(next++));
    zeros_ = floats(args_.scratch(), number(WindowNumber::zeros_at));
    table_ = floats(args_.scratch(), number(WindowNumber::weights_at));
    strip_ = floats(args_.scratch(), number(WindowNumber::strip_at));
    width_ = arguments_.inner;
    tile_.pad = number(WindowNumber::pad_width);
    tile_.width = number(WindowNumber::width);
  }

  // Some rows of a plane of the result.
  void emit_task(Value* task) {
    Value* blocks = number(WindowNumber::row_blocks);
    Value* plane = b_.ir().CreateUDiv(task, blocks);
    Value* block = b_.sub(task, b_.mul(plane, blocks));
    const Values sizes(arguments_.outer.begin(), arguments_.outer.end() - 1);
    const Values point = unravel(b_, plane, sizes);
    set_weights(point[1]);
    set_planes(point);
    Value* each = number(WindowNumber::rows_of_block);
    Value* first = b_.mul(block, each);
    Value* is_last = b_.eq(block, b_.sub(blocks, b_.i64(1)));
    Value* end =
        b_.select(is_last, arguments_.outer.back(), b_.add(first, each));
    if (form_.combine == WindowCombine::sums) return emit_block(first, end);
    const bool greatest = form_.combine == WindowCombine::maximum;
    const auto emit = [&](bool special) {
      tile_.has_nan = greatest && special;
      tile_.exact = !greatest && special;
      emit_block(first, end);
      return Values{};
    };
    b_.if_else(
        greatest ? has_nan() : has_infinite_weights(),
        [&] { return emit(true); }, [&] { return emit(false); });
  }

  // The rows from `first` to `end`; the last of them may be computed twice.
  void emit_block(Value* first, Value* end) {
    Value* last = b_.sub(end, b_.i64(form_.rows));
    b_.loop(first, end, b_.i64(form_.rows),
            [&](Value* y) { emit_rows(b_.min(y, last)); });
  }

  // Whether a NaN is in the plane of the input: a look at all elements takes
  // less time than a maximum that keeps it.
  Value* has_nan() {
    Value* none = llvm::Constant::getNullValue(b_.vec(b_.i32()));
    const auto walk = [&](WindowNumber size, WindowNumber step, Value* base,
                          Value* seen, auto row) {
      return b_.loop(b_.i64(0), number(size), b_.i64(1), {seen},
                     [&](Value* i, const Values& carried) {
                       Value* at = floats(base, b_.mul(i, number(step)));
                       return Values{row(at, carried[0])};
                     })[0];
    };
    Value* seen = walk(
        WindowNumber::depth, WindowNumber::depth_step, plane_, none,
        [&](Value* slice, Value* carried) {
          return walk(
              WindowNumber::height, WindowNumber::row_step, slice, carried,
              [&](Value* row, Value* known) { return nan_of_row(row, known); });
        });
    return b_.any(b_.ne(seen, none));
  }

  Value* nan_of_row(Value* row, Value* seen) {
    const int64_t step = 2 * b_.lanes();
    const auto with = [&](Value* known, Value* low, Value* high) {
      Value* bad = b_.ir().CreateFCmpUNO(low, high);
      return b_.bit_or(known, b_.ir().CreateSExt(bad, known->getType()));
    };
    Value* whole = b_.sub(tile_.width, b_.i64(step - 1));
    const Values found = b_.loop(
        b_.i64(0), whole, b_.i64(step), {seen, b_.i64(0)},
        [&](Value* x, const Values& carried) {
          Value* at = floats(row, x);
          llvm::Type* type = b_.vec(b_.f32());
          Value* high = b_.load_raw(type, b_.offset(at, b_.f32(), b_.lanes()));
          return Values{with(carried[0], b_.load_raw(type, at), high),
                        b_.add(x, b_.i64(step))};
        });
    return b_.loop(found[1], tile_.width, b_.i64(b_.lanes()), {found[0]},
                   [&](Value* x, const Values& carried) {
                     Value* mask = b_.tail_mask(b_.sub(tile_.width, x));
                     Value* rest = b_.load(DType::f32, floats(row, x), mask);
                     return Values{with(carried[0], rest, rest)};
                   })[0];
  }

  // The weights and the bias of a channel of the result.
  void set_weights(Value* channel) {
    tile_.weights.clear();
    tile_.table = table_;
    tile_.bias = form_.has_bias
                     ? b_.load_broadcast(DType::f32, floats(bias_, channel))
                     : nullptr;
    if (weights_ == nullptr) return;
    const int64_t taps = form_.tap_count();
    Value* first = floats(weights_, b_.mul(channel, b_.i64(taps)));
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
      b_.store_aligned(load(floats(first, tap)),
                       floats(table_, b_.mul(tap, b_.i64(b_.lanes()))));
    });
  }

  // Whether a weight of the channel is infinite or NaN.
  Value* has_infinite_weights() {
    Value* zero = b_.f32(0);
    Value* sum = b_.loop(b_.i64(0), b_.i64(form_.tap_count()), b_.i64(1),
                         {zero}, [&](Value* tap, const Values& carried) {
                           Value* weight = b_.load_scalar(
                               DType::f32, floats(first_weight_, tap));
                           return Values{b_.fma(weight, zero, carried[0])};
                         })[0];
    return b_.ne(sum, zero);
  }

  // The plane of the input, and those of the epilogue's operands.
  void set_planes(const Values& point) {
    Value* channel =
        b_.ir().CreateUDiv(point[1], number(WindowNumber::multiplier));
    Value* offset = b_.add(b_.mul(point[0], number(WindowNumber::image_step)),
                           b_.mul(channel, number(WindowNumber::channel_step)));
    plane_ = floats(input_, offset);
    depth_ = point[2];
    planes_.clear();
    for (size_t i = 0; i < operands(); ++i) {
      const Values& strides = arguments_.accesses[i].outer;
      planes_.push_back(
          point_address(b_, operands_[i], form_.loops.access(i).dtype,
                        {strides.begin(), strides.end() - 1}, point));
    }
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
      emit_strip(strip_row(i), operand_rows(b_.add(y, i)));
    });
  }

  void set_input_rows(Value* y) {
    const auto offset = [&](Value* place, int dim, int64_t distance,
                            WindowNumber pad) {
      Value* first = b_.mul(place, b_.i64(form_.strides[dim]));
      return b_.add(b_.sub(first, number(pad)), b_.i64(distance));
    };
    tile_.rows.clear();
    tile_.rows_inside.clear();
    for (int64_t k = 0; k < form_.taps[0]; ++k) {
      Value* z =
          offset(depth_, 0, k * form_.dilations[0], WindowNumber::pad_depth);
      Value* slice =
          floats(plane_, b_.mul(z, number(WindowNumber::depth_step)));
      Value* z_inside = b_.lt(z, number(WindowNumber::depth), true);
      for (const auto& [distance, uses] : window_rows(form_)) {
        Value* row = offset(y, 1, distance, WindowNumber::pad_height);
        Value* is_inside = b_.bit_and(
            z_inside, b_.lt(row, number(WindowNumber::height), true));
        Value* at = floats(slice, b_.mul(row, number(WindowNumber::row_step)));
        tile_.rows_inside.push_back(is_inside);
        tile_.rows.push_back(b_.select(is_inside, at, zeros_));
      }
    }
  }

  // Each operand's row `y`.
  Values operand_rows(Value* y) {
    Values rows;
    for (size_t i = 0; i < operands(); ++i)
      rows.push_back(point_address(b_, planes_[i], form_.loops.access(i).dtype,
                                   {arguments_.accesses[i].outer.back()}, {y}));
    return rows;
  }

  // Places whose windows reach outside are computed with masks; the last vector
  // of a row overlaps the one before.
  void emit_columns(const std::vector<Values>& rows) {
    Value* first = number(WindowNumber::first_inside);
    Value* last = number(WindowNumber::last_inside);
    Value* end = first;
    for (int64_t vectors = form_.vectors;
         vectors > 0 && !form_.narrow && !tile_.exact; vectors /= 2)
      end = emit_inside(rows, end, last, vectors);
    Value* start = b_.select(b_.eq(first, b_.i64(0)), end, b_.i64(0));
    Value* lanes = b_.i64(b_.lanes());
    b_.loop_by(start, width_, [&](Value* x) {
      Value* column = form_.narrow ? x : b_.min(x, b_.sub(width_, lanes));
      store(rows, column, emit_plane_tile(b_, form_, tile_, column, 1, true));
      Value* next = b_.add(x, lanes);
      return b_.select(b_.eq(next, first), b_.sub(end, x), lanes);
    });
  }

  // From `first` on, so many vectors at a time; gives the first place that is
  // left.
  Value* emit_inside(const std::vector<Values>& rows, Value* first, Value* last,
                     int64_t vectors) {
    const int64_t step = vectors * b_.lanes();
    Value* end = b_.sub(last, b_.i64(step - b_.lanes() - 1));
    return b_.loop(
        first, end, b_.i64(step), {first}, [&](Value* x, const Values&) {
          store(rows, x, emit_plane_tile(b_, form_, tile_, x, vectors, false));
          if (form_.fetches_ahead) fetch_ahead(rows, x);
          return Values{b_.add(x, b_.i64(step))};
        })[0];
  }

  void fetch_ahead(const std::vector<Values>& rows, Value* x) {
    Value* step = number(WindowNumber::row_step);
    Value* column = b_.mul(x, b_.i64(form_.strides[2]));
    Value* last = floats(tile_.rows.back(), column);
    for (int64_t i = 1; i <= form_.rows * form_.strides[1]; ++i)
      b_.prefetch(floats(last, b_.mul(step, b_.i64(i))));
    if (rows.empty()) return;
    const size_t output = operands() - 1;
    for (const Values& row : rows) {
      const Values& strides = arguments_.accesses[output].outer;
      Value* ahead = b_.mul(strides.back(), b_.i64(form_.rows));
      b_.prefetch(floats(row[output], b_.add(x, ahead)));
    }
  }

  // ---- What is done to sums.

  Value* strip_row(Value* i) {
    Value* lanes = b_.i64(b_.lanes());
    Value* vectors =
        b_.ir().CreateUDiv(b_.add(width_, b_.sub(lanes, b_.i64(1))), lanes);
    return floats(strip_, b_.mul(i, b_.mul(vectors, lanes)));
  }

  void store(const std::vector<Values>& rows, Value* column,
             const std::vector<Values>& sums) {
    for (size_t i = 0; i < sums.size(); ++i)
      for (size_t v = 0; v < sums[i].size(); ++v) {
        Value* x = b_.add(column, b_.i64(int64_t(v) * b_.lanes()));
        if (form_.has_strip)
          b_.store_raw(sums[i][v], floats(strip_row(b_.i64(int64_t(i))), x));
        else
          emit_epilogue(sums[i][v], rows[i], x);
      }
  }

  // Of one row, whose sums wait at `sums`.
  void emit_strip(Value* sums, const Values& rows) {
    Value* lanes = b_.i64(b_.lanes());
    b_.loop(b_.i64(0), width_, lanes, [&](Value* x) {
      Value* column = form_.narrow ? x : b_.min(x, b_.sub(width_, lanes));
      emit_epilogue(b_.load_raw(b_.vec(b_.f32()), floats(sums, column)), rows,
                    column);
    });
  }

  void emit_epilogue(Value* sum, const Values& rows, Value* column) {
    const ScalarBody& body = form_.epilogue;
    const Place place{column, form_.narrow ? b_.sub(width_, column) : nullptr};
    BodyValues values(b_, body, b_.lanes(), [&](BodyValues&, int32_t id) {
      const ScalarInstr& instr = body.instrs[size_t(id)];
      if (instr.prim != Prim::input) return static_cast<Value*>(nullptr);
      if (instr.slot == 0) return sum;
      const auto slot = size_t(instr.slot - 1);
      const program::AccessForm& access = form_.loops.inputs[slot];
      Value* loaded =
          load_at(b_, access.dtype, access.inner.number(), rows[slot], place);
      return convert_computed(b_, loaded, access.dtype, instr.type);
    });
    const size_t extras = form_.loops.inputs.size();
    Values results;
    for (size_t i = 0; i < form_.loops.outputs.size(); ++i)
      results.push_back(values.result(i, form_.loops.outputs[i].dtype));
    for (size_t i = 0; i < results.size(); ++i) {
      const program::AccessForm& access = form_.loops.outputs[i];
      store_at(b_, access.dtype, access.inner.number(), results[i],
               rows[extras + i], place);
    }
  }

  VectorBuilder& b_;
  const WindowForm& form_;
  KernelArgs args_;
  const StepArguments arguments_;
  Values operands_;  // Those of the epilogue.
  Value *input_ = nullptr, *weights_ = nullptr, *bias_ = nullptr;
  Value *zeros_ = nullptr, *table_ = nullptr, *strip_ = nullptr;
  Value* width_ = nullptr;  // Of the result.
  PlaneTile tile_;
  // Of a task: the plane of the input and those of the epilogue's operands.
  Value* plane_ = nullptr;
  Value* depth_ = nullptr;
  Value* first_weight_ = nullptr;  // Of the channel.
  Values planes_;
};

}  // namespace

void emit(VectorBuilder& b, const WindowForm& form) { Windows(b, form).emit(); }

}  // namespace fxjit::jit
