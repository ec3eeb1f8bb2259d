// What the kernels that resize images do along a row: bring its columns to the
// result's width, and join rows. For jit/emit/resampling alone.
#pragma once

#include "jit/emit/loop_epilogue.h"
#include "src/program/resampling/form.h"

namespace fxjit::jit {

// Numbers and operands of the call.
class ResampleParts : public LoopEpilogue {
 public:
  // Reads what the call has, at the builder's position.
  ResampleParts(VectorBuilder& b, const program::ResampleForm& form);

  Value* number(program::ResampleNumber which) const {
    return number_at(static_cast<size_t>(which));
  }
  Value* scratch_at(program::ResampleNumber bytes) const {
    return b.offset_bytes(args.scratch(), number(bytes));
  }
  // Of the result.
  Value* rows() const { return arguments.outer[form.channels_inner ? 1 : 2]; }
  Value* columns() const {
    return form.channels_inner ? arguments.outer[2] : arguments.inner;
  }
  // `count` elements of the input behind `base`.
  Value* elements(Value* base, Value* count) const {
    return b.offset(base, b.memory_type(form.dtype), count);
  }
  // An entry of 32 bits of a table [taps, size].
  Value* entry(Value* table, int64_t tap, Value* size, Value* at) const {
    return b.offset(table, b.i32(), b.add(b.mul(b.i64(tap), size), at));
  }

  const program::ResampleForm& form;
  Value *input = nullptr, *row_places = nullptr, *row_weights = nullptr;
  Value *column_places = nullptr, *column_weights = nullptr;
};

class ResampleColumns {
 public:
  explicit ResampleColumns(const ResampleParts& parts);

  // Before all rows: what vectors of columns read, to the scratch.
  void set_table() const;
  // A row of a plane to floats of the result's width.
  void widen(Value* from, Value* to) const;
  // A row of an image likewise, the channels of a block from `channel` on: the
  // result has those of one place side by side.
  void widen_channels(Value* from, Value* to, Value* channel) const;

  // Rows that are joined: where they begin, and their weights in all lanes if
  // there are any.
  struct Rows {
    Values firsts, weights;
  };
  // Joined rows of planes, and the epilogue at this point.
  void join(const Rows& rows, const Values& point) const;
  // Columns of a row of a plane by the form's factors, and the epilogue of all
  // rows that they become from this point on.
  void spread(Value* row, const Values& point) const;
  void join_channels(const Rows& rows, Value* image, Value* channel,
                     Value* y) const;

 private:
  using Body = llvm::function_ref<void(Value* c, Value* first)>;
  void each_channel(Value* channel, Body body) const;
  Value* gathered(Value* from, Value* first, int64_t tap) const;
  Value* picked(Value* from, Value* c, int64_t tap) const;
  Value* table_entry(Value* c, int64_t tap) const;
  Value* resized(Value* from, Value* c, const Place& place) const;
  // The columns under a place of the result: how far from the first one of the
  // row, in elements, and their weights.
  struct Columns {
    Values offsets, weights;
  };
  Columns columns_at(Value* x) const;
  Value* spread_lanes(Value* elements, int64_t part) const;
  Value* resized_channels(Value* from, const Columns& columns,
                          const Place& place) const;
  Value* joined(const Rows& rows,
                llvm::function_ref<Value*(Value* row)> read) const;
  Value* added(Value* sum, Value* element, Value* weight) const;

  const ResampleParts& parts_;
  const program::ResampleForm& form_;
  VectorBuilder& b_;
  Value* pitch_;  // From place to place in the ring, in floats.
};

}  // namespace fxjit::jit
