#include "jit/emit/resampling/columns.h"

namespace fxjit::jit {

using program::ColumnReads;
using program::ResampleNumber;

ResampleColumns::ResampleColumns(const ResampleParts& parts)
    : parts_(parts),
      form_(parts.form),
      b_(parts.b),
      joined_dtype_(form_.column_taps == 0 ? form_.dtype : DType::f32) {
  Value* lanes = b_.i64(parts.lanes);
  Value* channels = parts.number(ResampleNumber::channels_of_block);
  pitch_ = b_.mul(
      b_.ir().CreateUDiv(b_.add(channels, b_.i64(parts.lanes - 1)), lanes),
      lanes);
}

// The weighted sum so far; without weights there is one element.
Value* ResampleColumns::added(Value* sum, Value* element, Value* weight) const {
  if (weight == nullptr) return element;
  return sum == nullptr ? b_.mul(element, weight)
                        : b_.fma(element, weight, sum);
}

// Of the vector of columns behind `c` of others, by number.
Value* ResampleColumns::table_entry(Value* c, int64_t tap) const {
  Value* vector = b_.ir().CreateUDiv(c, b_.i64(parts_.lanes));
  return b_.add(b_.mul(vector, b_.i64(form_.column_taps)), b_.i64(tap));
}

void ResampleColumns::set_table() const {
  if (!form_.has_table()) return;
  const int64_t read =
      form_.reads == ColumnReads::two_vectors ? 2 * parts_.lanes : parts_.lanes;
  Value* last = b_.sub(parts_.number(ResampleNumber::width), b_.i64(read));
  Value* lanes_at = parts_.scratch_at(ResampleNumber::lanes_at);
  Value* firsts_at = parts_.scratch_at(ResampleNumber::firsts_at);
  parts_.each_vector(parts_.columns(), [&](Value* c, Value* x) {
    for (int64_t tap = 0; tap < form_.column_taps; ++tap) {
      Value* places = b_.load_raw(
          b_.vec(b_.i32(), parts_.lanes),
          parts_.entry(parts_.column_places, tap, parts_.columns(), x));
      Value* least = b_.reduce(
          places, [&](Value* a, Value* other) { return b_.min(a, other); });
      Value* first = b_.min(b_.ir().CreateSExt(least, b_.i64()), last);
      Value* from = b_.ir().CreateTrunc(first, b_.i32());
      Value* entry = table_entry(c, tap);
      b_.store_raw(
          b_.sub(places, b_.splat(from, parts_.lanes)),
          b_.offset(lanes_at, b_.i32(), b_.mul(entry, b_.i64(parts_.lanes))));
      b_.store_raw(first, b_.offset(firsts_at, b_.i64(), entry));
    }
  });
}

// Columns of one tap, one by one.
Value* ResampleColumns::gathered(Value* from, Value* first, int64_t tap) const {
  const Place place = parts_.place(first, parts_.columns());
  Value* mask = active_mask(b_, place);
  Value* at = parts_.entry(parts_.column_places, tap, parts_.columns(), first);
  Value* places = mask == nullptr
                      ? b_.load_raw(b_.vec(b_.i32(), parts_.lanes), at)
                      : b_.load(DType::i32, at, mask);
  return b_.gather(form_.dtype, from, places, mask);
}

// Columns of one tap as lanes of what lies side by side.
Value* ResampleColumns::picked(Value* from, Value* c, int64_t tap) const {
  Value* entry = table_entry(c, tap);
  Value* lanes =
      b_.load_raw(b_.vec(b_.i32(), parts_.lanes),
                  b_.offset(parts_.scratch_at(ResampleNumber::lanes_at),
                            b_.i32(), b_.mul(entry, b_.i64(parts_.lanes))));
  Value* first = b_.load_raw(
      b_.i64(),
      b_.offset(parts_.scratch_at(ResampleNumber::firsts_at), b_.i64(), entry));
  Value* start = parts_.elements(from, first);
  Value* low = b_.permute(b_.load(form_.dtype, start, parts_.lanes), lanes);
  if (form_.reads == ColumnReads::one_vector) return low;
  Value* behind = parts_.elements(start, b_.i64(parts_.lanes));
  Value* count = b_.integer(lanes->getType(), parts_.lanes);
  Value* high = b_.permute(b_.load(form_.dtype, behind, parts_.lanes),
                           b_.sub(lanes, count));
  return b_.select(b_.lt(lanes, count), low, high);
}

void ResampleColumns::widen(Value* from, Value* to) const {
  parts_.each_vector(parts_.columns(), [&](Value* c, Value* first) {
    const Place place = parts_.place(first, parts_.columns());
    Value* sum = nullptr;
    for (int64_t tap = 0; tap < form_.column_taps; ++tap) {
      Value* element =
          form_.has_table() ? picked(from, c, tap) : gathered(from, first, tap);
      Value* weight = nullptr;
      if (form_.column_weights) {
        Place at = place;
        at.first = b_.i64(0);
        weight = load_at(
            b_, DType::f32, 1,
            parts_.entry(parts_.column_weights, tap, parts_.columns(), first),
            at);
      }
      sum = added(sum, element, weight);
    }
    store_at(b_, DType::f32, 1, sum, to, place);
  });
}

// The vectors of a block of channels; `first` is the channel at which one
// begins, `c` how many of the block come before it.
void ResampleColumns::each_channel(Value* channel, Body body) const {
  Value* all = parts_.arguments.inner;
  Value* width = b_.min(parts_.number(ResampleNumber::channels_of_block),
                        b_.sub(all, channel));
  Value* last = b_.sub(all, b_.i64(parts_.lanes));
  b_.loop(b_.i64(0), width, b_.i64(parts_.lanes), [&](Value* c) {
    Value* first = b_.add(channel, c);
    body(c, form_.narrow ? first : b_.min(first, last));
  });
}

void ResampleColumns::widen_channels(Value* from, Value* to,
                                     Value* channel) const {
  Value* columns = parts_.columns();
  b_.loop(b_.i64(0), columns, b_.i64(1), [&](Value* x) {
    Values firsts, weights;
    for (int64_t tap = 0; tap < form_.column_taps; ++tap) {
      Value* place = b_.ir().CreateSExt(
          b_.load_raw(b_.i32(),
                      parts_.entry(parts_.column_places, tap, columns, x)),
          b_.i64());
      firsts.push_back(parts_.elements(
          from, b_.mul(place, parts_.number(ResampleNumber::column_step))));
      if (form_.column_weights)
        weights.push_back(b_.load_broadcast(
            DType::f32, parts_.entry(parts_.column_weights, tap, columns, x),
            parts_.lanes));
    }
    Value* at = parts_.floats(to, b_.mul(x, pitch_));
    each_channel(channel, [&](Value* c, Value* first) {
      const Place place = parts_.place(first, parts_.arguments.inner);
      Value* sum = nullptr;
      for (size_t tap = 0; tap < firsts.size(); ++tap)
        sum = added(sum, load_at(b_, form_.dtype, 1, firsts[tap], place),
                    weights.empty() ? nullptr : weights[tap]);
      Place local = place;
      local.first = c;
      store_at(b_, DType::f32, 1, sum, at, local);
    });
  });
}

// A vector at `place` of rows that begin `offset` elements behind theirs.
Value* ResampleColumns::joined(const Rows& rows, Value* offset,
                               const Place& place) const {
  Value* sum = nullptr;
  for (size_t tap = 0; tap < rows.firsts.size(); ++tap) {
    Value* row = offset == nullptr
                     ? rows.firsts[tap]
                     : b_.offset(rows.firsts[tap],
                                 b_.memory_type(joined_dtype_), offset);
    sum = added(sum, load_at(b_, joined_dtype_, 1, row, place),
                rows.weights.empty() ? nullptr : rows.weights[tap]);
  }
  return sum;
}

void ResampleColumns::join(const Rows& rows, const Values& point) const {
  const Values operands = parts_.moved(parts_.bases, 0, point);
  parts_.each_vector(parts_.columns(), [&](Value*, Value* first) {
    const Place place = parts_.place(first, parts_.columns());
    parts_.emit_epilogue(joined(rows, nullptr, place), operands, place);
  });
}

void ResampleColumns::join_channels(const Rows& rows, Value* image,
                                    Value* channel, Value* y) const {
  const bool resized = form_.column_taps > 0;
  Value* step = resized ? pitch_ : parts_.number(ResampleNumber::column_step);
  b_.loop(b_.i64(0), parts_.columns(), b_.i64(1), [&](Value* x) {
    const Values operands = parts_.moved(parts_.bases, 0, {image, y, x});
    Value* offset = b_.mul(x, step);
    each_channel(channel, [&](Value* c, Value* first) {
      const Place place = parts_.place(first, parts_.arguments.inner);
      Place local = place;
      if (resized) local.first = c;
      parts_.emit_epilogue(joined(rows, offset, local), operands, place);
    });
  });
}

}  // namespace fxjit::jit
