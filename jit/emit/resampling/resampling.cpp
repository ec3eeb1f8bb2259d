// Images to other sizes: rows of the input are brought to the result's width in
// a ring of rows, which holds those that several rows of the result read, and
// are then joined.
#include "jit/emit/loop_epilogue.h"
#include "jit/emit/resampling/columns.h"
#include "jit/emit/skeletons.h"

namespace fxjit::jit {
namespace {

using program::ResampleForm;
using program::ResampleNumber;

class Resampling {
 public:
  Resampling(const ResampleParts& parts, const ResampleColumns& columns)
      : parts_(parts), form_(parts.form), b_(parts.b), columns_(columns) {}

  void emit() {
    b_.loop(parts_.args.begin(), parts_.args.end(), b_.i64(1),
            [&](Value* task) { emit_task(task); });
  }

 private:
  Value* number(ResampleNumber which) const { return parts_.number(which); }

  // Some rows of a plane, or of some channels of an image.
  void emit_task(Value* task) {
    Value* blocks = number(ResampleNumber::row_blocks);
    Value* slice = b_.ir().CreateUDiv(task, blocks);
    Value* block = b_.sub(task, b_.mul(slice, blocks));
    Value* each = number(ResampleNumber::rows_of_block);
    Value* first = b_.mul(block, each);
    Value* end = b_.min(b_.add(first, each), parts_.rows());
    begin_slice(slice);
    for (int64_t slot = 0; form_.has_ring() && slot < form_.row_span; ++slot)
      b_.store_raw(b_.i64(-1), held(b_.i64(slot)));
    if (form_.column_factor > 1)
      return b_.loop(first, end, b_.i64(form_.row_factor), [&](Value* y) {
        columns_.spread(row_of(place_of(0, y)), {image_, channel_, y});
      });
    b_.loop(first, end, b_.i64(1), [&](Value* y) { emit_row(y); });
  }

  void begin_slice(Value* slice) {
    const bool inner = form_.channels_inner;
    Value* count = inner ? number(ResampleNumber::channel_blocks)
                         : parts_.arguments.outer[1];
    image_ = b_.ir().CreateUDiv(slice, count);
    Value* rest = b_.sub(slice, b_.mul(image_, count));
    channel_ =
        inner ? b_.mul(rest, number(ResampleNumber::channels_of_block)) : rest;
    Value* start = b_.mul(image_, number(ResampleNumber::image_step));
    // Vectors of channels find their own.
    if (!inner)
      start =
          b_.add(start, b_.mul(channel_, number(ResampleNumber::channel_step)));
    plane_ = parts_.elements(parts_.input, start);
  }

  Value* held(Value* slot) const {
    return b_.offset(parts_.scratch_at(ResampleNumber::held_at), b_.i64(),
                     slot);
  }

  void emit_row(Value* y) {
    ResampleColumns::Rows rows;
    for (int64_t tap = 0; tap < form_.row_taps; ++tap) {
      rows.firsts.push_back(row_of(place_of(tap, y)));
      if (form_.row_weights)
        rows.weights.push_back(b_.splat(
            b_.load_scalar(DType::f32, parts_.entry(parts_.row_weights, tap,
                                                    parts_.rows(), y)),
            parts_.lanes));
    }
    if (form_.channels_inner)
      columns_.join_channels(rows, image_, channel_, y);
    else
      columns_.join(rows, {image_, channel_, y});
  }

  // The row of the input under a tap of row `y`.
  Value* place_of(int64_t tap, Value* y) const {
    Value* at = parts_.entry(parts_.row_places, tap, parts_.rows(), y);
    return b_.ir().CreateSExt(b_.load_raw(b_.i32(), at), b_.i64());
  }

  // Where that row lies: in the ring, or in the input.
  Value* row_of(Value* place) {
    Value* from = parts_.elements(
        plane_, b_.mul(place, number(ResampleNumber::row_step)));
    if (!form_.has_ring()) return from;
    Value* slot = b_.ir().CreateURem(place, b_.i64(form_.row_span));
    Value* to = parts_.floats(parts_.args.scratch(),
                              b_.mul(slot, number(ResampleNumber::ring_row)));
    Value* known = b_.load_raw(b_.i64(), held(slot));
    b_.if_then(b_.ne(known, place), [&] {
      if (form_.channels_inner)
        columns_.widen_channels(from, to, channel_);
      else
        columns_.widen(from, to);
      b_.store_raw(place, held(slot));
    });
    return to;
  }

  const ResampleParts& parts_;
  const ResampleForm& form_;
  VectorBuilder& b_;
  const ResampleColumns& columns_;
  // Of a task: the image, its first channel, and where they begin.
  Value *image_ = nullptr, *channel_ = nullptr, *plane_ = nullptr;
};

}  // namespace

ResampleParts::ResampleParts(VectorBuilder& b, const ResampleForm& form)
    : LoopEpilogue(b, form.loops, form.epilogue, form.lanes, form.narrow,
                   form.own_operands()),
      form(form) {
  size_t next = 0;
  input = args.operand(next++);
  row_places = args.operand(next++);
  if (form.row_weights) row_weights = args.operand(next++);
  if (form.column_taps > 0) column_places = args.operand(next++);
  if (form.column_weights) column_weights = args.operand(next++);
}

void emit(VectorBuilder& b, const ResampleForm& form) {
  const ResampleParts parts(b, form);
  const ResampleColumns columns(parts);
  columns.set_table();
  Resampling(parts, columns).emit();
  b.ret();
}

}  // namespace fxjit::jit
