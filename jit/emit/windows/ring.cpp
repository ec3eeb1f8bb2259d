// Windows of many taps over planes: a vector's worth of planes at a time is
// turned, row by row, into a ring of rows whose lanes are channels, which tiles
// read as they read channels that lie innermost; sums are turned back. Loads
// and stores of weights would take longer than both turns.
#include "jit/emit/windows/channel_tile.h"

namespace fxjit::jit {
namespace {

using program::WindowForm;
using program::WindowNumber;

using Source = ChannelTile::Source;

class Ring {
 public:
  Ring(const WindowParts& parts, const ChannelTile& tile)
      : parts_(parts),
        form_(parts.form),
        b_(parts.b),
        tile_(tile),
        lanes_(parts.lanes),
        width_(parts.arguments.inner),
        pitch_(parts.number(WindowNumber::ring_row)) {}

  void emit() {
    b_.loop(parts_.args.begin(), parts_.args.end(), b_.i64(1),
            [&](Value* task) { emit_task(task); });
  }

 private:
  Value* number(WindowNumber which) { return parts_.number(which); }

  // Some rows of some planes of the result.
  void emit_task(Value* task) {
    Value* blocks = number(WindowNumber::row_blocks);
    Value* part = b_.ir().CreateUDiv(task, blocks);
    Value* block = b_.sub(task, b_.mul(part, blocks));
    const Values& sizes = parts_.arguments.outer;
    Value* parts = b_.ir().CreateUDiv(b_.add(sizes[1], b_.i64(lanes_ - 1)),
                                      b_.i64(lanes_));
    Value* image = b_.ir().CreateUDiv(part, parts);
    Value* begin = b_.mul(b_.sub(part, b_.mul(image, parts)), b_.i64(lanes_));
    table_ = form_.packs_weights
                 ? parts_.floats(parts_.weights,
                                 b_.mul(begin, b_.i64(form_.tap_count())))
                 : parts_.table;
    // The last planes overlap those before.
    Value* channel = b_.min(begin, b_.sub(sizes[1], b_.i64(lanes_)));
    set_planes(image, channel);
    Value* each = number(WindowNumber::rows_of_block);
    Value* first = b_.mul(block, each);
    Value* is_last = b_.eq(block, b_.sub(blocks, b_.i64(1)));
    Value* end = b_.select(is_last, sizes[3], b_.add(first, each));
    b_.loop(first, end, b_.i64(1), {b_.max(top_of(first), b_.i64(0))},
            [&](Value* y, const Values& carried) {
              Value* below = b_.add(top_of(y), b_.i64(form_.ring_rows()));
              Value* next = b_.min(below, number(WindowNumber::height));
              b_.loop(carried[0], next, b_.i64(1),
                      [&](Value* row) { turn_row(row); });
              emit_row(y);
              return Values{b_.max(carried[0], next)};
            });
  }

  // The row of the input under the first tap of row `y`.
  Value* top_of(Value* y) {
    return b_.sub(b_.mul(y, b_.i64(form_.strides[1])),
                  number(WindowNumber::pad_height));
  }

  void set_planes(Value* image, Value* channel) {
    plane_ = parts_.floats(
        parts_.input,
        b_.add(b_.mul(image, number(WindowNumber::image_step)),
               b_.mul(channel, number(WindowNumber::channel_step))));
    if (!form_.packs_weights) set_table(channel);
    bias_ = parts_.bias == nullptr
                ? nullptr
                : load_at(b_, DType::f32, 1,
                          parts_.floats(parts_.bias, channel), all());
    first_ = {image, channel};
  }

  // The weights of the planes from `channel` on, as packed ones lie.
  void set_table(Value* channel) {
    for (int64_t i = 0; i < form_.tap_count(); ++i) {
      Value* at = b_.add(b_.mul(channel, b_.i64(form_.tap_count())), b_.i64(i));
      Value* weight = load_at(b_, DType::f32, form_.tap_count(),
                              parts_.floats(parts_.weights, at), all());
      b_.store_aligned(weight, b_.offset(parts_.table, b_.f32(), i * lanes_));
    }
  }

  Place all() const { return {b_.i64(0), nullptr, lanes_}; }

  Value* slot_of(Value* row) {
    Value* slot = b_.ir().CreateURem(row, b_.i64(form_.ring_rows()));
    return parts_.floats(parts_.zeros, b_.mul(b_.add(slot, b_.i64(1)), pitch_));
  }

  // Row `row` of the planes to its slot, behind the padding.
  void turn_row(Value* row) {
    Value* from =
        parts_.floats(plane_, b_.mul(row, number(WindowNumber::row_step)));
    Value* to = parts_.floats(
        slot_of(row), b_.mul(number(WindowNumber::pad_width), b_.i64(lanes_)));
    parts_.each_vector(number(WindowNumber::width), [&](Value*, Value* x) {
      Values rows;
      Value* at = parts_.floats(from, x);
      for (int i = 0; i < lanes_; ++i) {
        rows.push_back(b_.load_raw(b_.vec(b_.f32()), at));
        at = parts_.floats(at, number(WindowNumber::channel_step));
      }
      const Values columns = b_.transpose(rows);
      Value* first = parts_.floats(to, b_.mul(x, b_.i64(lanes_)));
      for (int i = 0; i < lanes_; ++i)
        b_.store_aligned(columns[size_t(i)],
                         b_.offset(first, b_.f32(), i * lanes_));
    });
  }

  void emit_row(Value* y) {
    std::vector<Source> rows;
    for (const auto& [distance, uses] : tile_.row_uses) {
      Value* row = b_.add(top_of(y), b_.i64(distance));
      Value* inside = b_.lt(row, number(WindowNumber::height), true);
      rows.push_back({b_.select(inside, slot_of(row), parts_.zeros), inside});
    }
    Value* pitch = strip_pitch();
    parts_.each_vector(width_, [&](Value*, Value* x) {
      const Values turned = b_.transpose(
          tile_.products(sources_of(rows, x), table_, bias_, all()));
      Value* to = parts_.floats(parts_.strip, x);
      for (Value* sums : turned) {
        b_.store_raw(sums, to);
        to = parts_.floats(to, pitch);
      }
    });
    b_.loop(b_.i64(0), b_.i64(lanes_), b_.i64(1), [&](Value* i) {
      const Values operands = parts_.moved(
          parts_.bases, 0, {first_[0], b_.add(first_[1], i), b_.i64(0), y});
      parts_.emit_strip(parts_.floats(parts_.strip, b_.mul(i, pitch)),
                        operands);
    });
  }

  Value* strip_pitch() {
    Value* vectors =
        b_.ir().CreateUDiv(b_.add(width_, b_.i64(lanes_ - 1)), b_.i64(lanes_));
    return b_.mul(vectors, b_.i64(lanes_));
  }

  std::vector<Source> sources_of(const std::vector<Source>& rows, Value* x) {
    Value* column = b_.mul(x, b_.i64(form_.strides[2]));
    std::vector<Source> sources;
    for (const Source& row : rows) {
      Value* first = parts_.floats(row.first, b_.mul(column, b_.i64(lanes_)));
      for (const auto& [distance, uses] : tile_.column_uses) {
        Value* at = b_.sub(b_.add(column, b_.i64(distance)),
                           number(WindowNumber::pad_width));
        sources.push_back(
            {b_.offset(first, b_.f32(), distance * lanes_),
             b_.bit_and(row.inside,
                        b_.lt(at, number(WindowNumber::width), true))});
      }
    }
    return sources;
  }

  const WindowParts& parts_;
  const WindowForm& form_;
  VectorBuilder& b_;
  const ChannelTile& tile_;
  const int lanes_;
  Value* width_;  // Of the result.
  Value* pitch_;  // Of the ring's rows, in floats.
  // Of a task: its weights, its first plane, also as the place of image and
  // channel.
  Value* table_ = nullptr;
  Value* plane_ = nullptr;
  Value* bias_ = nullptr;
  Values first_;
};

}  // namespace

void emit_ring(const WindowParts& parts) {
  VectorBuilder& b = parts.b;
  // Before the ring a row of zeros. Rows are turned into the middle of slots.
  Value* rows = b.i64(parts.form.ring_rows() + 1);
  parts.fill_outside(b.mul(rows, parts.number(WindowNumber::ring_row)));
  const auto emit = [&](bool exact) {
    Ring(parts, ChannelTile(parts, 1, parts.lanes, exact)).emit();
    return Values{};
  };
  Value* weights =
      b.mul(parts.arguments.outer[1], b.i64(parts.form.tap_count()));
  b.if_else(
      parts.has_special(parts.weights, weights), [&] { return emit(true); },
      [&] { return emit(false); });
}

}  // namespace fxjit::jit
