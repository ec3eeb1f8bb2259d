#include "jit/emit/resampling/columns.h"

namespace fxjit::jit {

using program::ColumnReads;
using program::ResampleNumber;

ResampleColumns::ResampleColumns(const ResampleParts& parts)
    : parts_(parts), form_(parts.form), b_(parts.b) {
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

// The vector at `place` of a row of a plane, behind `c` of others.
Value* ResampleColumns::resized(Value* from, Value* c,
                                const Place& place) const {
  Value* sum = nullptr;
  for (int64_t tap = 0; tap < form_.column_taps; ++tap) {
    Value* element = form_.has_table() ? picked(from, c, tap)
                                       : gathered(from, place.first, tap);
    Value* weight = nullptr;
    if (form_.column_weights) {
      Place at = place;
      at.first = b_.i64(0);
      weight = load_at(b_, DType::f32, 1,
                       parts_.entry(parts_.column_weights, tap,
                                    parts_.columns(), place.first),
                       at);
    }
    sum = added(sum, element, weight);
  }
  return sum;
}

void ResampleColumns::widen(Value* from, Value* to) const {
  parts_.each_vector(parts_.columns(), [&](Value* c, Value* first) {
    const Place place = parts_.place(first, parts_.columns());
    store_at(b_, DType::f32, 1, resized(from, c, place), to, place);
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

ResampleColumns::Columns ResampleColumns::columns_at(Value* x) const {
  Columns columns;
  Value* step = parts_.number(ResampleNumber::column_step);
  if (form_.column_taps == 0) return {{b_.mul(x, step)}, {}};
  for (int64_t tap = 0; tap < form_.column_taps; ++tap) {
    const auto entry = [&](Value* table) {
      return parts_.entry(table, tap, parts_.columns(), x);
    };
    Value* place = b_.load_raw(b_.i32(), entry(parts_.column_places));
    columns.offsets.push_back(
        b_.mul(b_.ir().CreateSExt(place, b_.i64()), step));
    if (form_.column_weights)
      columns.weights.push_back(b_.load_broadcast(
          DType::f32, entry(parts_.column_weights), parts_.lanes));
  }
  return columns;
}

// The channels at `place` of a place in the result, from a row of an image.
Value* ResampleColumns::resized_channels(Value* from, const Columns& columns,
                                         const Place& place) const {
  Value* sum = nullptr;
  for (size_t tap = 0; tap < columns.offsets.size(); ++tap) {
    Value* first = parts_.elements(from, columns.offsets[tap]);
    sum = added(sum, load_at(b_, form_.dtype, 1, first, place),
                columns.weights.empty() ? nullptr : columns.weights[tap]);
  }
  return sum;
}

void ResampleColumns::widen_channels(Value* from, Value* to,
                                     Value* channel) const {
  b_.loop(b_.i64(0), parts_.columns(), b_.i64(1), [&](Value* x) {
    const Columns columns = columns_at(x);
    Value* at = parts_.floats(to, b_.mul(x, pitch_));
    each_channel(channel, [&](Value* c, Value* first) {
      const Place place = parts_.place(first, parts_.arguments.inner);
      Place local = place;
      local.first = c;
      store_at(b_, DType::f32, 1, resized_channels(from, columns, place), at,
               local);
    });
  });
}

Value* ResampleColumns::joined(
    const Rows& rows, llvm::function_ref<Value*(Value* row)> read) const {
  Value* sum = nullptr;
  for (size_t tap = 0; tap < rows.firsts.size(); ++tap)
    sum = added(sum, read(rows.firsts[tap]),
                rows.weights.empty() ? nullptr : rows.weights[tap]);
  return sum;
}

void ResampleColumns::join(const Rows& rows, const Values& point) const {
  const Values operands = parts_.moved(parts_.bases, 0, point);
  parts_.each_vector(parts_.columns(), [&](Value* c, Value* first) {
    const Place place = parts_.place(first, parts_.columns());
    Value* sum = joined(rows, [&](Value* row) {
      if (form_.has_ring()) return load_at(b_, DType::f32, 1, row, place);
      return form_.column_taps > 0 ? resized(row, c, place)
                                   : load_at(b_, form_.dtype, 1, row, place);
    });
    parts_.emit_epilogue(sum, operands, place);
  });
}

// Vector number `part` of those that a vector of the input becomes.
Value* ResampleColumns::spread_lanes(Value* elements, int64_t part) const {
  std::vector<int> lanes;
  for (int64_t i = 0; i < parts_.lanes; ++i)
    lanes.push_back(int((part * parts_.lanes + i) / form_.column_factor));
  return b_.ir().CreateShuffleVector(elements, lanes);
}

void ResampleColumns::spread(Value* row, const Values& point) const {
  std::vector<Values> operands;
  for (int64_t i = 0; i < form_.row_factor; ++i) {
    Values place = point;
    place.back() = b_.add(place.back(), b_.i64(i));
    operands.push_back(parts_.moved(parts_.bases, 0, place));
  }
  Value* width = parts_.number(ResampleNumber::width);
  parts_.each_vector(width, [&](Value*, Value* first) {
    Value* elements =
        load_at(b_, form_.dtype, 1, row, parts_.place(first, width));
    Value* start = b_.mul(first, b_.i64(form_.column_factor));
    for (int64_t part = 0; part < form_.column_factor; ++part) {
      Value* at = b_.add(start, b_.i64(part * parts_.lanes));
      Value* picked = spread_lanes(elements, part);
      for (const Values& bases : operands)
        parts_.emit_epilogue(picked, bases, parts_.place(at, parts_.columns()));
    }
  });
}

void ResampleColumns::join_channels(const Rows& rows, Value* image,
                                    Value* channel, Value* y) const {
  b_.loop(b_.i64(0), parts_.columns(), b_.i64(1), [&](Value* x) {
    const Values operands = parts_.moved(parts_.bases, 0, {image, y, x});
    const Columns columns = form_.has_ring() ? Columns{} : columns_at(x);
    Value* offset = b_.mul(x, pitch_);
    each_channel(channel, [&](Value* c, Value* first) {
      const Place place = parts_.place(first, parts_.arguments.inner);
      Place local = place;
      local.first = c;
      Value* sum = joined(rows, [&](Value* row) {
        return form_.has_ring() ? load_at(b_, DType::f32, 1,
                                          parts_.floats(row, offset), local)
                                : resized_channels(row, columns, place);
      });
      parts_.emit_epilogue(sum, operands, place);
    });
  });
}

}  // namespace fxjit::jit
