// Windows of single channels with channels innermost: tiles, from one vector of
// channels to the next.
#include <llvm/IR/InlineAsm.h>

#include <string>
#include <vector>

#include "jit/emit/windows/channel_tile.h"

namespace fxjit::jit {
namespace {

using program::WindowCombine;
using program::WindowForm;
using program::WindowNumber;

using Source = ChannelTile::Source;

// The same sums, all of which are computed before anything is done to one. LLVM
// else moves the products of each to its epilogue, where they wait for one
// another.
Values together(VectorBuilder& b, const Values& sums) {
  std::vector<llvm::Type*> types;
  std::string made, taken;
  for (size_t i = 0; i < sums.size(); ++i) {
    types.push_back(sums[i]->getType());
    made += i == 0 ? "=v" : ",=v";
    taken += "," + std::to_string(i);
  }
  llvm::Type* all = types.size() == 1
                        ? types[0]
                        : llvm::StructType::get(types[0]->getContext(), types);
  auto* nothing =
      llvm::InlineAsm::get(llvm::FunctionType::get(all, types, false), "",
                           made + taken, /*hasSideEffects=*/false);
  Value* kept = b.ir().CreateCall(nothing, sums);
  if (sums.size() == 1) return {kept};
  Values result;
  for (unsigned i = 0; i < sums.size(); ++i)
    result.push_back(b.ir().CreateExtractValue(kept, i));
  return result;
}

class Channels {
 public:
  Channels(const WindowParts& parts, const ChannelTile& tile)
      : parts_(parts),
        form_(parts.form),
        b_(parts.b),
        channels_(parts.arguments.inner),
        table_(form_.packs_weights ? parts.weights : parts.table),
        tile_(tile) {}

  void emit() {
    parts_.each_tile(tile_.rows, tile_.across,
                     [&](const WindowParts::Tile& at) { emit_tile(at); });
  }

 private:
  // Along one dim of the input: where something lies, and whether it is inside.
  struct At {
    Value *offset, *inside;
  };
  Value* number(WindowNumber which) { return parts_.number(which); }

  At at(Value* result, int dim, int64_t distance, WindowNumber pad,
        WindowNumber size, WindowNumber step) {
    Value* first = b_.mul(result, b_.i64(form_.strides[dim]));
    Value* place = b_.add(b_.sub(first, number(pad)), b_.i64(distance));
    return {b_.mul(place, number(step)),
            b_.lt(place, number(size), /*is_unsigned=*/true)};
  }

  // Rows of the input under the results from row `y` on, those of the first tap
  // of depth first.
  std::vector<At> rows_at(Value* depth, Value* y) {
    std::vector<At> rows;
    for (int64_t k = 0; k < form_.taps[0]; ++k) {
      const At slice =
          at(depth, 0, k * form_.dilations[0], WindowNumber::pad_depth,
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
  void emit_tile(const WindowParts::Tile& tile) {
    const std::vector<At> rows = rows_at(tile.depth, tile.y);
    const std::vector<At> columns = columns_at(tile.x);
    const auto edge = [&] { return edge_sources(tile.image, rows, columns); };
    if (tile_.exact) return emit_tile(edge(), tile);
    Value* inside = b_.bit_and(columns.front().inside, columns.back().inside);
    for (const At& row : rows) inside = b_.bit_and(inside, row.inside);
    const auto emit = [&](const std::vector<Source>& sources) {
      emit_tile(sources, tile);
      return Values{};
    };
    b_.if_else(
        inside, [&] { return emit(inner_sources(tile.image, rows, columns)); },
        [&] { return emit(edge()); });
  }

  // All places under a tile's windows, row by row.
  std::vector<Source> edge_sources(Value* image, const std::vector<At>& rows,
                                   const std::vector<At>& columns) {
    std::vector<Source> sources;
    for (const At& row : rows)
      for (const At& column : columns) {
        Value* inside = b_.bit_and(row.inside, column.inside);
        Value* first =
            parts_.elements(image, b_.add(row.offset, column.offset));
        sources.push_back({b_.select(inside, first, parts_.zeros), inside});
      }
    return sources;
  }
  std::vector<Source> inner_sources(Value* image, const std::vector<At>& rows,
                                    const std::vector<At>& columns) {
    std::vector<Source> sources;
    for (const At& row : rows) {
      Value* first = parts_.elements(image, row.offset);
      for (const At& column : columns)
        sources.push_back({parts_.elements(first, column.offset), nullptr});
    }
    return sources;
  }

  void emit_tile(const std::vector<Source>& sources,
                 const WindowParts::Tile& at) {
    std::vector<Values> operands;  // Of the epilogue.
    for (int64_t i = 0; i < tile_.rows; ++i)
      for (int64_t j = 0; j < tile_.across; ++j)
        operands.push_back(parts_.moved(
            at.slices, 2, {b_.add(at.y, b_.i64(i)), b_.add(at.x, b_.i64(j))}));
    parts_.each_vector(channels_, [&](Value* c, Value* channel) {
      const Place place = parts_.place(channel, channels_);
      const Values sums = form_.combine == WindowCombine::products
                              ? together(b_, products(sources, c, place))
                              : tile_.pooled(sources, place);
      parts_.emit_epilogues(sums, operands, place);
    });
  }

  Values products(const std::vector<Source>& sources, Value* c,
                  const Place& place) {
    Value* bias = parts_.bias == nullptr
                      ? nullptr
                      : load_at(b_, DType::f32, 1, parts_.bias, place);
    return tile_.products(
        sources, parts_.floats(table_, b_.mul(c, b_.i64(form_.tap_count()))),
        bias, place);
  }

  const WindowParts& parts_;
  const WindowForm& form_;
  VectorBuilder& b_;
  Value *channels_, *table_;
  const ChannelTile& tile_;
};

// Writes the weights [taps, channels] to the table [vectors of channels, taps]
// in the order in which tiles read them, as packed ones lie. The sum of zero
// times each.
Value* set_table(const WindowParts& parts) {
  VectorBuilder& b = parts.b;
  Value* channels = parts.arguments.inner;
  const int64_t taps = parts.form.tap_count();
  Value* zero = b.splat_f32(0, parts.lanes);
  return parts.each_vector(
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
  Value* is_exact = parts.has_special([&] { return set_table(parts); });
  if (form.input != DType::f32) {
    emit(form.rows, form.across, false);
    return;
  }
  b.if_else(
      is_exact, [&] { return emit(1, 1, true); },
      [&] { return emit(form.rows, form.across, false); });
}

}  // namespace fxjit::jit
