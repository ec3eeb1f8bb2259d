// Products over the channels of a Winograd kernel.
#include "jit/emit/winograd_parts.h"

namespace fxjit::jit {
namespace {

using program::WinogradShape;
using program::WinogradStep;

// Steps of a block's channels that are emitted side by side.
constexpr int64_t kChannelStep = 4;

// Channels that are summed in one chain. The transform back of F(4) magnifies
// what chains round off about fourfold; sums of parts keep that near the errors
// of direct sums, which are chains of nine times as many products.
int64_t part_channels(int64_t channels) {
  if (channels < 32) return 8;
  if (channels < 64) return 16;
  return channels < 128 ? 32 : 64;
}

class Sums {
 public:
  explicit Sums(const WinogradPart& part)
      : part_(part), tiles_(part.shape.group) {}

  void emit() {
    VectorBuilder& b = part_.b;
    const int64_t whole = part_.step.channels / b.lanes();
    const int64_t rest = part_.step.channels % b.lanes();
    const int64_t each = part_channels(part_.step.channels);
    Values totals = each >= b.lanes() ? whole_parts(whole, each / b.lanes())
                                      : short_parts(whole, each);
    if (rest)  // The last channels of a block that overlaps.
      totals =
          add(totals, block_sums(b.i64(whole), b.i64(b.lanes() - rest),
                                 b.i64(whole * b.lanes()), rest, 1, zeros()));
    for (int64_t t = 0; t < tiles_; ++t)
      for (int64_t v = 0; v < vectors(); ++v)
        part_.store(totals[static_cast<size_t>(t * vectors() + v)], b.arg(2),
                    t * part_.shape.sums_floats() + v * b.lanes());
    b.ret();
  }

 private:
  int64_t vectors() const { return part_.shape.panels.vectors; }
  Values zeros() const {
    return Values(static_cast<size_t>(tiles_ * vectors()),
                  part_.b.splat_f32(0));
  }
  Values add(const Values& totals, const Values& sums) const {
    Values results;
    for (size_t i = 0; i < sums.size(); ++i)
      results.push_back(part_.b.add(totals[i], sums[i]));
    return results;
  }

  // Parts of `each` blocks.
  Values whole_parts(int64_t blocks, int64_t each) {
    VectorBuilder& b = part_.b;
    const auto sums_of = [&](Value* first, Value* end) {
      return b.loop(
          first, end, b.i64(1), zeros(), [&](Value* block, const Values& sums) {
            return block_sums(block, b.i64(0), part_.times(block, b.lanes()),
                              b.lanes(), kChannelStep, sums);
          });
    };
    if (blocks <= each) return sums_of(b.i64(0), b.i64(blocks));
    return b.loop(b.i64(0), b.i64(blocks), b.i64(each), zeros(),
                  [&](Value* first, const Values& totals) {
                    Value* end = b.ir().CreateBinaryIntrinsic(
                        llvm::Intrinsic::smin, b.add(first, b.i64(each)),
                        b.i64(blocks));
                    return add(totals, sums_of(first, end));
                  });
  }

  // Parts of `each` channels of a block.
  Values short_parts(int64_t blocks, int64_t each) {
    VectorBuilder& b = part_.b;
    const int64_t parts = b.lanes() / each;
    return b.loop(
        b.i64(0), b.i64(blocks * parts), b.i64(1), zeros(),
        [&](Value* part, const Values& totals) {
          Value* block = b.ir().CreateUDiv(part, b.i64(parts));
          Value* first =
              part_.times(b.ir().CreateURem(part, b.i64(parts)), each);
          return add(totals, block_sums(block, first, part_.times(part, each),
                                        each, kChannelStep, zeros()));
        });
  }

  // `count` channels of a block from `first`, the first of them being
  // `channel`.
  Values block_sums(Value* block, Value* first, Value* channel, int64_t count,
                    int64_t step, const Values& sums) {
    VectorBuilder& b = part_.b;
    const int64_t width = part_.shape.panels.width();
    Value* inputs = b.offset(
        b.offset(b.arg(0), b.f32(),
                 part_.times(block, part_.shape.channel_block_floats())),
        b.f32(), first);
    Value* weights = b.offset(b.arg(1), b.f32(), part_.times(channel, width));
    return b.loop(b.i64(0), b.i64(count), b.i64(step), sums,
                  [&](Value* k, const Values& carried) {
                    Values next = carried;
                    Value* column = b.offset(inputs, b.f32(), k);
                    Value* row =
                        b.offset(weights, b.f32(), part_.times(k, width));
                    for (int64_t i = 0; i < step; ++i)
                      accumulate(next, column, row, i);
                    return next;
                  });
  }

  void accumulate(Values& sums, Value* column, Value* row, int64_t i) {
    VectorBuilder& b = part_.b;
    Values weights;
    for (int64_t v = 0; v < vectors(); ++v)
      weights.push_back(part_.load(row, (i * vectors() + v) * b.lanes()));
    for (int64_t t = 0; t < tiles_; ++t) {
      Value* x = b.load_broadcast(
          DType::f32,
          b.offset(column, b.f32(), t * part_.shape.tile_floats() + i));
      for (int64_t v = 0; v < vectors(); ++v) {
        Value*& sum = sums[static_cast<size_t>(t * vectors() + v)];
        sum = b.fma(x, weights[static_cast<size_t>(v)], sum);
      }
    }
  }

  const WinogradPart& part_;
  int64_t tiles_;
};

}  // namespace

llvm::Function* make_winograd_sums(VectorBuilder& b, const WinogradStep& step,
                                   const WinogradShape& shape) {
  return make_winograd_part(b, "sums", 3, 0, [&](VectorBuilder& inner) {
    const WinogradPart part{inner, step, shape};
    Sums(part).emit();
  });
}

}  // namespace fxjit::jit
