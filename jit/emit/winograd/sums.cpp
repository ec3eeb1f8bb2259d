// Products over the channels of a Winograd kernel.
#include "jit/emit/integers/pairs.h"
#include "jit/emit/winograd/parts.h"

namespace fxjit::jit {
namespace {

using program::WinogradForm;
using program::WinogradNumber;

// Steps of a block's words that are emitted side by side.
constexpr int64_t kChannelStep = 4;

class Sums {
 public:
  explicit Sums(const WinogradPart& part)
      : part_(part),
        tiles_(part.form.group),
        block_floats_(part.number(WinogradNumber::channel_block_floats)) {}

  void emit() {
    VectorBuilder& b = part_.b;
    Value* words = part_.number(WinogradNumber::words);
    Value* whole = b.ir().CreateUDiv(words, b.i64(b.lanes()));
    Values totals = parts(whole);
    if (part_.form.channel_rest) {  // One more block, which overlaps.
      Value* first = part_.times(whole, b.lanes());
      Value* rest = b.sub(words, first);
      totals = add(totals, block_sums(whole, b.sub(b.i64(b.lanes()), rest),
                                      first, rest, 1, zeros()));
    }
    for (int64_t t = 0; t < tiles_; ++t)
      for (int64_t v = 0; v < vectors(); ++v)
        part_.store(totals[static_cast<size_t>(t * vectors() + v)], b.arg(3),
                    t * part_.form.sums_floats() + v * b.lanes());
    b.ret();
  }

 private:
  int64_t vectors() const { return part_.form.vectors; }
  Values zeros() const {
    return Values(static_cast<size_t>(tiles_ * vectors()),
                  llvm::Constant::getNullValue(part_.sums_type()));
  }
  Values add(const Values& totals, const Values& sums) const {
    Values results;
    for (size_t i = 0; i < sums.size(); ++i)
      results.push_back(part_.b.add(totals[i], sums[i]));
    return results;
  }

  // Sums of integers are exact however long they are.
  Values parts(Value* blocks) {
    if (part_.form.is_integer()) return chain(part_.b.i64(0), blocks);
    if (part_.form.short_part)
      return short_parts(blocks, part_.form.short_part);
    return whole_parts(blocks, part_.number(WinogradNumber::part_blocks));
  }

  // Of blocks [first, end).
  Values chain(Value* first, Value* end) {
    VectorBuilder& b = part_.b;
    return b.loop(
        first, end, b.i64(1), zeros(), [&](Value* block, const Values& sums) {
          return block_sums(block, b.i64(0), part_.times(block, b.lanes()),
                            b.i64(b.lanes()), kChannelStep, sums);
        });
  }

  // Parts of `each` blocks.
  Values whole_parts(Value* blocks, Value* each) {
    VectorBuilder& b = part_.b;
    return b.loop(b.i64(0), blocks, each, zeros(),
                  [&](Value* first, const Values& totals) {
                    Value* end = b.min(b.add(first, each), blocks);
                    return add(totals, chain(first, end));
                  });
  }

  // Parts of `each` words of a block.
  Values short_parts(Value* blocks, int64_t each) {
    VectorBuilder& b = part_.b;
    const int64_t parts = b.lanes() / each;
    return b.loop(
        b.i64(0), part_.times(blocks, parts), b.i64(1), zeros(),
        [&](Value* part, const Values& totals) {
          Value* block = b.ir().CreateUDiv(part, b.i64(parts));
          Value* first =
              part_.times(b.ir().CreateURem(part, b.i64(parts)), each);
          return add(totals, block_sums(block, first, part_.times(part, each),
                                        b.i64(each), kChannelStep, zeros()));
        });
  }

  // `count` words of a block from `first`, the first of them being the pixel's
  // `word`.
  Values block_sums(Value* block, Value* first, Value* word, Value* count,
                    int64_t step, const Values& sums) {
    VectorBuilder& b = part_.b;
    const int64_t width = part_.form.width();
    Value* inputs =
        b.offset(b.offset(b.arg(1), b.f32(), b.mul(block, block_floats_)),
                 b.f32(), first);
    Value* weights = b.offset(b.arg(2), b.f32(), part_.times(word, width));
    return b.loop(b.i64(0), count, b.i64(step), sums,
                  [&](Value* k, const Values& carried) {
                    Values next = carried;
                    if (part_.form.fetches_ahead && step == kChannelStep)
                      fetch_ahead(b.add(word, k));
                    Value* column = b.offset(inputs, b.f32(), k);
                    Value* row =
                        b.offset(weights, b.f32(), part_.times(k, width));
                    for (int64_t i = 0; i < step; ++i)
                      accumulate(next, column, row, i);
                    return next;
                  });
  }

  // Prefetches the share of the next weights that belongs to kChannelStep
  // words: two groups prefetch half of the weights each.
  void fetch_ahead(Value* word) {
    VectorBuilder& b = part_.b;
    const int64_t bytes = part_.form.width() * 4 / 2;
    Value* at = b.offset_bytes(b.arg(4), part_.times(word, bytes));
    for (int64_t byte = 0; byte < bytes * kChannelStep; byte += kCacheLine)
      b.prefetch(b.offset_bytes(at, byte), 2);
  }

  void accumulate(Values& sums, Value* column, Value* row, int64_t i) {
    VectorBuilder& b = part_.b;
    Values weights;
    for (int64_t v = 0; v < vectors(); ++v)
      weights.push_back(part_.load(row, (i * vectors() + v) * b.lanes()));
    for (int64_t t = 0; t < tiles_; ++t) {
      Value* x = b.splat(b.load_raw(
          part_.form.is_integer() ? b.i32() : b.f32(),
          b.offset(column, b.f32(), t * part_.form.tile_floats() + i)));
      for (int64_t v = 0; v < vectors(); ++v) {
        Value*& sum = sums[static_cast<size_t>(t * vectors() + v)];
        sum = added(sum, x, weights[static_cast<size_t>(v)]);
      }
    }
  }

  Value* added(Value* sum, Value* x, Value* weights) {
    VectorBuilder& b = part_.b;
    if (!part_.form.is_integer()) return b.fma(x, weights, sum);
    return b.add(sum, sums_of_pairs(b, as_shorts(b, x), as_shorts(b, weights)));
  }

  const WinogradPart& part_;
  int64_t tiles_;
  Value* block_floats_;
};

}  // namespace

llvm::Function* make_winograd_sums(VectorBuilder& b, const WinogradForm& form) {
  return make_winograd_part(
      b, form, "sums", 4, 0,
      [](const WinogradPart& part) { Sums(part).emit(); });
}

}  // namespace fxjit::jit
