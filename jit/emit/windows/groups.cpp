// Windows whose results sum the channels of their group, with results
// innermost. A tile is a vector of results at some places of a row. Lanes are
// results of one group, and each element is repeated in all of them; or of
// several groups, and lanes take the elements of their own group, by a
// permutation of as many channels as results or from repeated ones. It is done
// once for all taps of a row that are in the code one after the other.
#include <map>

#include "jit/emit/windows/group_lanes.h"
#include "src/support/machine/cache_line.h"

namespace fxjit::jit {
namespace {

using program::WindowForm;
using program::WindowNumber;

class Groups {
 public:
  // `across` places. Products with weights that are not finite must not meet
  // the zeros outside: `exact` leaves them out.
  Groups(const WindowParts& parts, int64_t across, bool exact)
      : parts_(parts),
        form_(parts.form),
        b_(parts.b),
        across_(across),
        exact_(exact),
        channels_(number(WindowNumber::group_channels)),
        results_(number(WindowNumber::multiplier)),
        groups_(b_.ir().CreateUDiv(parts.arguments.inner, results_)),
        block_(number(WindowNumber::weight_block)),
        depth_(b_.mul(channels_,
                      b_.mul(number(WindowNumber::taps_depth),
                             b_.mul(number(WindowNumber::taps_height),
                                    number(WindowNumber::taps_width))))),
        vectors_(parts) {}

  void emit() {
    parts_.each_tile(1, across_,
                     [&](const WindowParts::Tile& tile) { emit_tile(tile); });
  }

 private:
  using Tile = WindowParts::Tile;

  Value* number(WindowNumber which) const { return parts_.number(which); }

  // A vector of results of a tile, its first one, and what they read.
  struct Sums {
    const Tile& tile;
    const GroupLanes& lanes;
    Value* first;
    Value* input;    // The group's first channel in the image.
    Value* weights;  // Those of the first tap and channel.
    bool edges;      // Windows reach over the ends of rows.
  };

  void emit_tile(const Tile& tile) {
    std::vector<Values> operands;
    for (int64_t j = 0; j < across_; ++j)
      operands.push_back(
          parts_.moved(tile.slices, 2, {tile.y, b_.add(tile.x, b_.i64(j))}));
    Value* inside = is_inside(tile);
    vectors_.each([&](const GroupVector& vector) {
      if (form_.fetches_ahead) fetch_ahead(tile, vector.first);
      const Values made = emit_vector(tile, vector, inside);
      for (size_t i = 0; i < made.size(); ++i)
        parts_.emit_epilogue(made[i], operands[i % operands.size()],
                             place_of(vector.first, i / operands.size()));
    });
  }

  // What the tile below is the first one to read, of images with as many
  // channels as results. Each vector fetches a part, which lies in one piece.
  void fetch_ahead(const Tile& tile, Value* first) {
    const int64_t columns = across_ * form_.strides[2];
    Value* x = b_.mul(tile.x, number(WindowNumber::stride_width));
    Value* place = b_.add(b_.mul(x, number(WindowNumber::column_step)),
                          b_.mul(first, b_.i64(columns)));
    Value* last = b_.sub(number(WindowNumber::taps_height), b_.i64(1));
    Value* below = b_.add(tile.y, b_.i64(1));
    const At slice = at(tile.depth, b_.i64(0), 0);
    const At row = at(below, last, 1);
    Value* step = number(WindowNumber::row_step);
    Value* from = parts_.floats(
        tile.image, b_.add(place, b_.add(slice.offset, row.offset)));
    for (int64_t i = 0; i < form_.strides[2]; ++i) {
      for (int64_t at = 0; at < columns * form_.vectors * parts_.lanes;
           at += support::kLineFloats)
        b_.prefetch(parts_.floats(from, b_.i64(at)), 2);
      from = parts_.floats(from, b_.sub(b_.i64(0), step));
    }
  }

  // Vectors in the middle of rows have code of their own, as have those of them
  // whose results are of one group where most are.
  Values emit_vector(const Tile& tile, const GroupVector& vector,
                     Value* inside) {
    const auto make = [&](bool mixed, bool edges) {
      const GroupLanes lanes(parts_, vector, groups_, mixed);
      return sums_of({tile, lanes, vector.first, lanes.input_of(tile.image),
                      weights_of(vector), edges});
    };
    const auto middle = [&] {
      if (!form_.mostly_one_group) return make(true, false);
      Value* end = b_.add(vector.before, b_.i64(parts_.lanes));
      return b_.if_else(
          b_.le(end, results_), [&] { return make(false, false); },
          [&] { return make(true, false); });
    };
    if (exact_) return make(true, true);
    return b_.if_else(inside, middle, [&] { return make(true, true); });
  }

  // Results of the vector that is `number` vectors behind `first`.
  Place place_of(Value* first, size_t number) const {
    Value* behind = b_.i64(int64_t(number) * parts_.lanes);
    return parts_.place(b_.add(first, behind), parts_.arguments.inner);
  }

  // Whether windows reach over neither end of a row of the input.
  Value* is_inside(const Tile& tile) {
    Value* first = column_of(tile, b_.i64(0), 0);
    Value* tap = b_.sub(number(WindowNumber::taps_width), b_.i64(1));
    Value* last = column_of(tile, tap, across_ - 1);
    return b_.bit_and(b_.ge(first, b_.i64(0)),
                      b_.lt(last, number(WindowNumber::width)));
  }

  Value* column_of(const Tile& tile, Value* tap, int64_t place) {
    Value* x = b_.add(tile.x, b_.i64(place));
    Value* first = b_.sub(b_.mul(x, number(WindowNumber::stride_width)),
                          number(WindowNumber::pad_width));
    return b_.add(first, b_.mul(tap, number(WindowNumber::dilation_width)));
  }

  Value* weights_of(const GroupVector& vector) {
    Value* within = b_.sub(vector.first, vector.begin);
    Value* before = b_.mul(vector.begin, depth_);
    return parts_.floats(parts_.weights, b_.add(before, within));
  }

  Values sums_of(const Sums& sums) {
    Values all;
    for (size_t v = 0; v < size_t(form_.vectors); ++v)
      all.insert(all.end(), size_t(across_),
                 parts_.bias == nullptr
                     ? b_.splat_f32(0, parts_.lanes)
                     : load_at(b_, DType::f32, 1, parts_.bias,
                               place_of(sums.first, v)));
    return each_tap(WindowNumber::taps_depth, all, [&](Value* d, Values made) {
      const At slice = at(sums.tile.depth, d, 0);
      return each_tap(
          WindowNumber::taps_height, made, [&](Value* h, Values made) {
            const At row = at(sums.tile.y, h, 1);
            Value* first =
                parts_.floats(sums.input, b_.add(slice.offset, row.offset));
            Value* number_of_row =
                b_.add(b_.mul(d, number(WindowNumber::taps_height)), h);
            Value* weights = parts_.floats(
                sums.weights,
                b_.mul(b_.mul(number_of_row, number(WindowNumber::taps_width)),
                       b_.mul(channels_, block_)));
            return b_.if_else(
                b_.bit_and(slice.inside, row.inside),
                [&] { return with_row(sums, first, weights, made); },
                [&] { return made; });
          });
    });
  }

  using Step = llvm::function_ref<Values(Value* index, Values made)>;
  Values each_tap(WindowNumber taps, const Values& init, Step step) {
    return b_.loop(b_.i64(0), number(taps), b_.i64(1), init, step);
  }

  struct At {
    Value *offset, *inside;
  };
  // Tap `tap` of a window of depth or height (`dim` 0 or 1).
  At at(Value* result, Value* tap, int dim) {
    const auto of_dim = [&](WindowNumber first) {
      return number(WindowNumber(int(first) + dim));
    };
    Value* place =
        b_.sub(b_.add(b_.mul(result, of_dim(WindowNumber::stride_depth)),
                      b_.mul(tap, of_dim(WindowNumber::dilation_depth))),
               of_dim(WindowNumber::pad_depth));
    return {b_.mul(place, of_dim(WindowNumber::depth_step)),
            b_.lt(place, of_dim(WindowNumber::depth), /*is_unsigned=*/true)};
  }

  struct Use {
    int64_t place, tap;
  };
  using Uses = std::map<int64_t, std::vector<Use>>;  // By column.

  // Adds the products of a row of taps, each channel after the other.
  Values with_row(const Sums& sums, Value* row, Value* weights,
                  const Values& made) {
    if (form_.taps[2] != 0)
      return with_taps(sums, row, b_.i64(0), weights, made);
    return each_tap(WindowNumber::taps_width, made, [&](Value* k, Values made) {
      return with_taps(sums, row, k, parts_.floats(weights, b_.mul(k, block_)),
                       made);
    });
  }

  // Those in the code, from tap `first` on.
  Values with_taps(const Sums& sums, Value* row, Value* first, Value* weights,
                   const Values& made) {
    Uses uses;
    const int64_t taps = std::max<int64_t>(1, form_.taps[2]);
    for (int64_t j = 0; j < across_; ++j)
      for (int64_t k = 0; k < taps; ++k)
        uses[j * form_.strides[2] + k * form_.dilations[2]].push_back({j, k});
    Value* column = column_of(sums.tile, first, 0);
    Value* step = b_.mul(number(WindowNumber::taps_width), block_);
    const auto add_channel = [&](Value* c, Value* at, Values made) {
      Values factors;  // Those of a tap follow each other.
      for (int64_t k = 0; k < taps; ++k)
        for (int64_t v = 0; v < form_.vectors; ++v)
          factors.push_back(
              load(parts_.floats(at, b_.add(b_.mul(b_.i64(k), block_),
                                            b_.i64(v * parts_.lanes)))));
      const GroupLanes::Channel channel = sums.lanes.channel(c);
      for (const auto& [distance, of_column] : uses) {
        const Source from = source(sums, row, column, distance, c);
        Value* element = sums.lanes.elements(from.first, channel);
        for (const Use& use : of_column)
          for (int64_t v = 0; v < form_.vectors; ++v)
            add(made[size_t(v * across_ + use.place)], element,
                factors[size_t(use.tap * form_.vectors + v)], from);
      }
      return made;
    };
    return each_channel(weights, step, made, add_channel);
  }

  // Channels of the group; `weights` are those of the first one, and the next
  // ones' are `step` further on.
  Values each_channel(
      Value* weights, Value* step, Values made,
      llvm::function_ref<Values(Value* c, Value* weights, Values made)> body) {
    for (int64_t c = 0; c < form_.group_channels; ++c) {
      made = body(b_.i64(c), weights, made);
      weights = parts_.floats(weights, step);
    }
    if (form_.group_channels != 0) return made;
    made.push_back(weights);
    made = b_.loop(b_.i64(0), channels_, b_.i64(1), made,
                   [&](Value* c, const Values& carried) {
                     Values next = body(c, carried.back(),
                                        {carried.begin(), carried.end() - 1});
                     next.push_back(parts_.floats(carried.back(), step));
                     return next;
                   });
    made.pop_back();
    return made;
  }

  // The element of channel `c` of a column, or of the first channel where they
  // lie side by side: of zeros if the column is outside.
  struct Source {
    Value *first, *inside;
  };
  Source source(const Sums& sums, Value* row, Value* column, int64_t distance,
                Value* c) {
    Value* at = b_.add(column, b_.i64(distance));
    // Columns that lie apart have addresses of their own; those side by side
    // have one, and distances that are known.
    Value* first =
        form_.dense_channels
            ? parts_.floats(row, b_.mul(at, number(WindowNumber::column_step)))
            : b_.offset(plane_at(row, column, c), b_.f32(), distance);
    Value* inside = nullptr;
    if (sums.edges) {
      inside = b_.lt(at, number(WindowNumber::width), true);
      first = b_.select(inside, first, parts_.zeros);
    }
    return {first, inside};
  }
  Value* plane_at(Value* row, Value* column, Value* c) {
    Value* plane = b_.mul(c, number(WindowNumber::channel_step));
    return parts_.floats(row, b_.add(column, plane));
  }

  Value* load(Value* at) {
    return b_.load_raw(b_.vec(b_.f32(), parts_.lanes), at);
  }

  void add(Value*& sum, Value* element, Value* factor, const Source& from) {
    Value* more = b_.fma(element, factor, sum);
    sum = exact_ ? b_.select(from.inside, more, sum) : more;
  }

  const WindowParts& parts_;
  const WindowForm& form_;
  VectorBuilder& b_;
  const int64_t across_;
  const bool exact_;
  // Channels and results of a group, groups, results of a block of weights, and
  // what each result sums.
  Value *channels_, *results_, *groups_, *block_, *depth_;
  GroupVectors vectors_;
};

Value* weight_count(const WindowParts& parts) {
  VectorBuilder& b = parts.b;
  Value* count = parts.arguments.inner;
  for (WindowNumber factor :
       {WindowNumber::group_channels, WindowNumber::taps_depth,
        WindowNumber::taps_height, WindowNumber::taps_width})
    count = b.mul(count, parts.number(factor));
  return count;
}

}  // namespace

void emit_groups(const WindowParts& parts) {
  VectorBuilder& b = parts.b;
  // As many zeros as are read at a place.
  Value* channels = b.mul(parts.number(WindowNumber::group_channels),
                          b.i64(parts.form.vector_groups));
  parts.fill_outside(b.max(channels, b.i64(parts.lanes)));
  const auto emit = [&](int64_t across, bool exact) {
    Groups(parts, across, exact).emit();
    return Values{};
  };
  b.if_else(
      parts.has_special(parts.weights, weight_count(parts)),
      [&] { return emit(1, true); },
      [&] { return emit(parts.form.across, false); });
}

}  // namespace fxjit::jit
