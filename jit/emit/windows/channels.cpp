// Windows with channels innermost: the loops over tiles, and from one vector of
// channels of a tile to the next.
#include <vector>

#include "jit/emit/windows/channel_tile.h"

namespace fxjit::jit {
namespace {

using program::WindowCombine;
using program::WindowForm;
using program::WindowNumber;

using Source = ChannelTile::Source;

class Channels {
 public:
  Channels(const WindowParts& parts, const ChannelTile& tile)
      : parts_(parts),
        form_(parts.form),
        b_(parts.b),
        channels_(parts.arguments.inner),
        tile_(tile) {}

  void emit() {
    b_.loop(parts_.args.begin(), parts_.args.end(), b_.i64(1),
            [&](Value* task) { emit_task(task); });
  }

 private:
  // Along one dim of the input: where something lies, and whether it is inside.
  struct At {
    Value *offset, *inside;
  };
  Value* number(WindowNumber which) { return parts_.number(which); }

  // Some rows of an image of the result, or of one of its slices.
  void emit_task(Value* task) {
    Value* blocks = number(WindowNumber::row_blocks);
    Value* slice = b_.ir().CreateUDiv(task, blocks);
    Value* block = b_.sub(task, b_.mul(slice, blocks));
    const Values& sizes = parts_.arguments.outer;
    const Values point = unravel(b_, slice, {sizes[0], sizes[1]});
    image_ = parts_.elements(
        parts_.input, b_.mul(point[0], number(WindowNumber::image_step)));
    depth_ = point[1];
    slices_ = parts_.moved(parts_.bases, 0, point);
    Value* each = number(WindowNumber::rows_of_block);
    Value* first = b_.mul(block, each);
    Value* is_last = b_.eq(block, b_.sub(blocks, b_.i64(1)));
    Value* end = b_.select(is_last, sizes[2], b_.add(first, each));
    // Tiles at the ends overlap those before.
    const auto walk = [&](Value* from, Value* to, int64_t step, auto body) {
      Value* last = b_.sub(to, b_.i64(step));
      b_.loop(from, to, b_.i64(step), [&](Value* i) { body(b_.min(i, last)); });
    };
    walk(first, end, tile_.rows, [&](Value* y) {
      const std::vector<At> rows = rows_at(y);
      walk(b_.i64(0), sizes[3], tile_.across,
           [&](Value* x) { emit_tile(rows, y, x); });
    });
  }

  At at(Value* result, int dim, int64_t distance, WindowNumber pad,
        WindowNumber size, WindowNumber step) {
    Value* first = b_.mul(result, b_.i64(form_.strides[dim]));
    Value* place = b_.add(b_.sub(first, number(pad)), b_.i64(distance));
    return {b_.mul(place, number(step)),
            b_.lt(place, number(size), /*is_unsigned=*/true)};
  }

  // Rows of the input under the results from row `y` on, those of the first tap
  // of depth first.
  std::vector<At> rows_at(Value* y) {
    std::vector<At> rows;
    for (int64_t k = 0; k < form_.taps[0]; ++k) {
      const At slice =
          at(depth_, 0, k * form_.dilations[0], WindowNumber::pad_depth,
             WindowNumber::depth, WindowNumber::depth_step);
      for (const auto& [distance, uses] : tile_.row_uses) {
        const At row = at(y, 1, distance, WindowNumber::pad_height,
                          WindowNumber::height, WindowNumber::row_step);
        rows.push_back({b_.add(slice.offset, row.offset),
                        b_.bit_and(slice.inside, row.inside)});
      }
    }
    return rows;
  }

  std::vector<At> columns_at(Value* x) {
    std::vector<At> columns;
    for (const auto& [distance, uses] : tile_.column_uses)
      columns.push_back(at(x, 2, distance, WindowNumber::pad_width,
                           WindowNumber::width, WindowNumber::column_step));
    return columns;
  }

  // Most tiles see no padding, and take less time to find their places.
  void emit_tile(const std::vector<At>& rows, Value* y, Value* x) {
    const std::vector<At> columns = columns_at(x);
    if (tile_.exact) return emit_tile(edge_sources(rows, columns), y, x);
    Value* inside = b_.bit_and(columns.front().inside, columns.back().inside);
    for (const At& row : rows) inside = b_.bit_and(inside, row.inside);
    const auto emit = [&](const std::vector<Source>& sources) {
      emit_tile(sources, y, x);
      return Values{};
    };
    b_.if_else(
        inside, [&] { return emit(inner_sources(rows, columns)); },
        [&] { return emit(edge_sources(rows, columns)); });
  }

  // All places under a tile's windows, row by row.
  std::vector<Source> edge_sources(const std::vector<At>& rows,
                                   const std::vector<At>& columns) {
    std::vector<Source> sources;
    for (const At& row : rows)
      for (const At& column : columns) {
        Value* inside = b_.bit_and(row.inside, column.inside);
        Value* first =
            parts_.elements(image_, b_.add(row.offset, column.offset));
        sources.push_back({b_.select(inside, first, parts_.zeros), inside});
      }
    return sources;
  }
  std::vector<Source> inner_sources(const std::vector<At>& rows,
                                    const std::vector<At>& columns) {
    std::vector<Source> sources;
    for (const At& row : rows) {
      Value* first = parts_.elements(image_, row.offset);
      for (const At& column : columns)
        sources.push_back({parts_.elements(first, column.offset), nullptr});
    }
    return sources;
  }

  void emit_tile(const std::vector<Source>& sources, Value* y, Value* x) {
    std::vector<Values> operands;  // Of the epilogue.
    for (int64_t i = 0; i < tile_.rows; ++i)
      for (int64_t j = 0; j < tile_.across; ++j)
        operands.push_back(parts_.moved(
            slices_, 2, {b_.add(y, b_.i64(i)), b_.add(x, b_.i64(j))}));
    parts_.each_vector(channels_, [&](Value* c, Value* channel) {
      const Place place = parts_.place(channel, channels_);
      const Values sums = form_.combine == WindowCombine::products
                              ? products(sources, c, place)
                              : tile_.pooled(sources, place);
      for (size_t i = 0; i < sums.size(); ++i)
        parts_.emit_epilogue(sums[i], operands[i], place);
    });
  }

  Values products(const std::vector<Source>& sources, Value* c,
                  const Place& place) {
    Value* bias = parts_.bias == nullptr
                      ? nullptr
                      : load_at(b_, DType::f32, 1, parts_.bias, place);
    return tile_.products(
        sources,
        parts_.floats(parts_.table, b_.mul(c, b_.i64(form_.tap_count()))), bias,
        place);
  }

  const WindowParts& parts_;
  const WindowForm& form_;
  VectorBuilder& b_;
  Value* channels_;
  const ChannelTile& tile_;
  // Of a task: the image, the place along the depth, the epilogue's operands.
  Value* image_ = nullptr;
  Value* depth_ = nullptr;
  Values slices_;
};

// Writes the weights [taps, channels] to the table [vectors of channels, taps]
// in the order in which tiles read them. Whether one is infinite or NaN.
Value* set_table(const WindowParts& parts) {
  VectorBuilder& b = parts.b;
  Value* channels = parts.arguments.inner;
  const int64_t taps = parts.form.tap_count();
  Value* zero = b.splat_f32(0, parts.lanes);
  Value* bad = parts.each_vector(
      channels, {zero}, [&](Value* c, Value* channel, const Values& carried) {
        Value* to = parts.floats(parts.table, b.mul(c, b.i64(taps)));
        Value* from = parts.floats(parts.weights, channel);
        return b.loop(b.i64(0), b.i64(taps), b.i64(1), carried,
                      [&](Value* tap, const Values& sums) {
                        Value* row = parts.floats(from, b.mul(tap, channels));
                        Place place = parts.place(channel, channels);
                        place.first = b.i64(0);
                        Value* weight = load_at(b, DType::f32, 1, row, place);
                        b.store_raw(
                            weight,
                            parts.floats(to, b.mul(tap, b.i64(parts.lanes))));
                        return Values{b.fma(weight, zero, sums[0])};
                      });
      })[0];
  return b.any(b.ne(bad, zero));
}

}  // namespace

void emit_channels(const WindowParts& parts) {
  VectorBuilder& b = parts.b;
  const WindowForm& form = parts.form;
  // Places outside the input are read here.
  parts.fill_outside(parts.arguments.inner);
  const auto emit = [&](int64_t rows, int64_t across, bool exact) {
    Channels(parts, ChannelTile(parts, rows, across, exact)).emit();
    return Values{};
  };
  if (form.combine != WindowCombine::products) {
    emit(form.rows, form.across, false);
    return;
  }
  Value* is_exact = set_table(parts);
  if (form.input != DType::f32) {
    emit(form.rows, form.across, false);
    return;
  }
  b.if_else(
      is_exact, [&] { return emit(1, 1, true); },
      [&] { return emit(form.rows, form.across, false); });
}

}  // namespace fxjit::jit
