// Attention: scores, masks and exponentials of one block of queries.
#include <limits>

#include "jit/emit/attention_parts.h"
#include "jit/emit/vector_math.h"

namespace fxjit::jit {
namespace {

using program::AttentionStep;

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

class Scores {
 public:
  Scores(const AttentionContext& context, const AttentionTask& task,
         Value* start, Value* end)
      : b_(context.b),
        context_(context),
        step_(context.step),
        block_(context.shape.block),
        task_(task),
        start_(start),
        end_(end) {}

  Values emit(const Values& maxima) {
    if (step_.keys == 0) return maxima;
    const Values products = all_tiles(maxima);
    return by_query() ? mask_scores(products) : products;
  }

 private:
  // Whether the mask differs between the queries of a block; else it is one
  // number per key.
  bool by_query() const {
    return step_.mask != AttentionStep::Mask::none &&
           step_.mask_access.row != 0;
  }

  // The last tile ends with the last key: it may repeat keys of the one before,
  // and of the last key block, whose scores are then written before the buffer.
  Values all_tiles(const Values& maxima) {
    const int64_t keys = context_.shape.key_tile;
    Value* last = b_.sub(end_, b_.i64(keys));
    return b_.loop(start_, end_, b_.i64(keys), maxima,
                   [&](Value* key, const Values& before) {
                     return tile(b_.min(key, last), keys, before);
                   });
  }

  Values tile(Value* key, int64_t keys, Values maxima) {
    const Values sums = products(key, keys);
    const auto vectors = size_t(context_.vectors());
    for (int64_t r = 0; r < keys; ++r) {
      Value* row = b_.add(key, b_.i64(r));
      Value* bias = key_bias(row);
      for (size_t v = 0; v < vectors; ++v) {
        Value* score = sums[size_t(r) * vectors + v];
        if (bias != nullptr) score = b_.add(score, bias);
        if (step_.causal) score = hide_future(score, row, int(v));
        b_.store_raw(score, score_at(row, int(v)), context_.alignment());
        if (!by_query()) maxima[v] = b_.max_fast(score, maxima[v]);
      }
    }
    return maxima;
  }

  Values products(Value* key, int64_t keys) {
    constexpr int64_t kUnroll = 2;
    Values sums(size_t(keys * context_.vectors()), b_.splat_f32(0));
    Value* row = context_.row(task_.k, key, step_.k.row);
    const int64_t looped = step_.depth / kUnroll * kUnroll;
    sums = b_.loop(b_.i64(0), b_.i64(looped), b_.i64(kUnroll), sums,
                   [&](Value* d, const Values& before) {
                     Values next = before;
                     for (int64_t i = 0; i < kUnroll; ++i)
                       accumulate(next, row, d, i);
                     return next;
                   });
    if (looped < step_.depth) accumulate(sums, row, b_.i64(looped), 0);
    return sums;
  }

  void accumulate(Values& sums, Value* row, Value* d, int64_t fixed) {
    Value* from = context_.row(task_.queries, d, block_);
    Values queries;
    for (int v = 0; v < context_.vectors(); ++v)
      queries.push_back(b_.load_raw(
          b_.vec(b_.f32()),
          b_.offset(from, b_.f32(), fixed * block_ + v * b_.lanes()),
          context_.alignment()));
    Value* column = b_.offset(row, b_.f32(), d);
    for (size_t i = 0; i < sums.size(); ++i) {
      const size_t v = i % queries.size();
      const auto r = int64_t(i / queries.size());
      Value* x = b_.load_broadcast(
          DType::f32, b_.offset(column, b_.f32(), r * step_.k.row + fixed));
      sums[i] = b_.fma(x, queries[v], sums[i]);
    }
  }

  // What the mask adds to all scores of a key; null: nothing.
  Value* key_bias(Value* key) {
    if (step_.mask == AttentionStep::Mask::none || by_query()) return nullptr;
    const DType dtype = mask_dtype();
    Value* at = b_.offset(
        task_.mask, b_.memory_type(dtype),
        b_.ir().CreateMul(key, b_.i64(step_.mask_key_stride)));
    return b_.splat(to_bias(b_.load_scalar(dtype, at)));
  }

  DType mask_dtype() const {
    return step_.mask == AttentionStep::Mask::boolean ? DType::boolean
                                                      : DType::f32;
  }

  // A mask's elements, in register form, as numbers to add.
  Value* to_bias(Value* loaded) {
    if (step_.mask == AttentionStep::Mask::additive) return loaded;
    llvm::Type* type = b_.with_shape_of(loaded, b_.f32());
    return b_.select(loaded, b_.number(type, 0),
                     b_.number(type, kMinusInfinity));
  }

  Value* query_lanes(int v) {
    return b_.add(b_.splat(task_.first),
                  b_.add(b_.iota(b_.i64()),
                         b_.splat(b_.i64(int64_t{v} * b_.lanes()))));
  }

  Value* hide_future(Value* score, Value* key, int v) {
    // Differences fit 32 bits wherever they matter.
    Value* distance = b_.ir().CreateTrunc(b_.sub(key, task_.first), b_.i32());
    Value* lanes = b_.add(b_.iota(b_.i32()),
                          b_.splat(b_.i32(int32_t(v) * b_.lanes())));
    return b_.select(b_.le(b_.splat(distance), lanes), score,
                     b_.splat_f32(kMinusInfinity));
  }

  Value* score_at(Value* key, int v) {
    return b_.offset(
        context_.row(task_.scores, b_.sub(key, start_), block_), b_.f32(),
        int64_t{v} * b_.lanes());
  }

  // Adds a mask that differs between queries, taking the maxima.
  Values mask_scores(const Values& maxima) {
    Values rows;
    for (int v = 0; v < context_.vectors(); ++v) {
      Value* query = query_lanes(v);
      if (step_.queries % block_ != 0)
        query = b_.min(query, b_.splat(b_.i64(step_.queries - 1)));
      rows.push_back(b_.ir().CreateMul(
          query, b_.splat(b_.i64(step_.mask_access.row))));
    }
    return b_.loop(
        start_, end_, b_.i64(1), maxima,
        [&](Value* key, const Values& before) {
          const DType dtype = mask_dtype();
          Value* base = b_.offset(
              task_.mask, b_.memory_type(dtype),
              b_.ir().CreateMul(key, b_.i64(step_.mask_key_stride)));
          Values next = before;
          for (size_t v = 0; v < rows.size(); ++v) {
            Value* bias = to_bias(b_.gather(dtype, base, rows[v], nullptr));
            Value* at = score_at(key, int(v));
            Value* score = b_.add(
                b_.load_raw(b_.vec(b_.f32()), at, context_.alignment()), bias);
            b_.store_raw(score, at, context_.alignment());
            next[v] = b_.max_fast(score, next[v]);
          }
          return next;
        });
  }

  VectorBuilder& b_;
  const AttentionContext& context_;
  const AttentionStep& step_;
  int64_t block_;
  const AttentionTask& task_;
  Value* start_;
  Value* end_;
};

}  // namespace

Values emit_scores(const AttentionContext& context, const AttentionTask& task,
                   Value* start, Value* end, const Values& maxima) {
  return Scores(context, task, start, end).emit(maxima);
}

Values emit_exponentials(const AttentionContext& context,
                         const AttentionTask& task, Value* count,
                         const Values& maxima) {
  VectorBuilder& b = context.b;
  const Values zeros(maxima.size(), b.splat_f32(0));
  return b.loop(
      b.i64(0), count, b.i64(1), zeros, [&](Value* key, const Values& before) {
        Values totals = before;
        Value* row = context.row(task.scores, key, context.shape.block);
        for (size_t v = 0; v < maxima.size(); ++v) {
          Value* at = b.offset(row, b.f32(), int64_t(v) * b.lanes());
          Value* score =
              b.load_raw(b.vec(b.f32()), at, context.alignment());
          Value* weight = emit_exp_softmax(b, b.sub(score, maxima[v]));
          b.store_raw(weight, at, context.alignment());
          totals[v] = b.add(totals[v], weight);
        }
        return totals;
      });
}

}  // namespace fxjit::jit
