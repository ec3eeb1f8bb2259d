// Attention: scores and exponentials of one block of queries.
#include <cstddef>

#include "jit/emit/attention/parts.h"
#include "jit/emit/vector_math.h"

namespace fxjit::jit {
namespace {

using program::AttentionCall;

constexpr int64_t kHalfTile = 4;

class Scores {
 public:
  Scores(const AttentionContext& context, Value* start, Value* end)
      : b_(context.b),
        context_(context),
        form_(context.form),
        block_(context.block()),
        k_(context.pointer(offsetof(AttentionCall, k))),
        k_row_(context.number(offsetof(AttentionCall, k_row))),
        first_(context.number(offsetof(AttentionCall, first))),
        queries_(context.region(context.places.queries_at)),
        scores_(context.region(context.places.scores_at)),
        start_(start),
        end_(end) {}

  // Returns the maxima of these scores and of `maxima`. The last tile ends with
  // the last key: it may repeat keys of the one before, and of the last key
  // block, whose scores are then written before the buffer.
  Values emit(const Values& maxima) {
    const int64_t keys = form_.key_tile;
    if (keys <= kHalfTile) return tiles(keys, end_, maxima);
    // What is left of whole tiles takes half a one where that is enough.
    const Values most = tiles(keys, b_.sub(end_, b_.i64(kHalfTile)), maxima);
    Value* rest = b_.bit_and(b_.sub(end_, start_), b_.i64(keys - 1));
    Value* is_half = b_.lt(b_.sub(rest, b_.i64(1)), b_.i64(kHalfTile),
                           /*is_unsigned=*/true);
    return b_.if_else(
        is_half,
        [&] { return tile(b_.sub(end_, b_.i64(kHalfTile)), kHalfTile, most); },
        [&] { return most; });
  }

 private:
  // Tiles of so many keys that begin before `stop`.
  Values tiles(int64_t keys, Value* stop, const Values& maxima) {
    Value* last = b_.sub(end_, b_.i64(keys));
    return b_.loop(start_, stop, b_.i64(keys), maxima,
                   [&](Value* key, const Values& before) {
                     return tile(b_.min(key, last), keys, before);
                   });
  }

  Values tile(Value* key, int64_t keys, Values maxima) {
    Values sums = products(key, keys);
    const auto vectors = size_t(context_.vectors());
    emit_masks(context_, key, keys, sums);
    for (int64_t r = 0; r < keys; ++r) {
      Value* row = b_.add(key, b_.i64(r));
      for (size_t v = 0; v < vectors; ++v) {
        const size_t i = size_t(r) * vectors + v;
        Value* score = sums[i];
        if (form_.causal) score = hide_future(score, row, int(v));
        context_.store(score, score_at(row, int(v)));
        maxima[v] = b_.max_fast(score, maxima[v]);
      }
    }
    return maxima;
  }

  Values products(Value* key, int64_t keys) {
    const int64_t unroll = keys * context_.vectors() > 8 ? 1 : 2;
    Values sums(size_t(keys * context_.vectors()), b_.splat_f32(0));
    Values rows;
    for (int64_t r = 0; r < keys; ++r)
      rows.push_back(context_.row(k_, b_.add(key, b_.i64(r)), k_row_));
    const int64_t looped = form_.depth / unroll * unroll;
    sums = b_.loop(b_.i64(0), b_.i64(looped), b_.i64(unroll), sums,
                   [&](Value* d, const Values& before) {
                     Values next = before;
                     for (int64_t i = 0; i < unroll; ++i)
                       accumulate(next, rows, d, i);
                     return next;
                   });
    if (looped < form_.depth) accumulate(sums, rows, b_.i64(looped), 0);
    return sums;
  }

  void accumulate(Values& sums, const Values& rows, Value* d, int64_t fixed) {
    Value* from = context_.row(queries_, d, block_);
    Values queries;
    for (int v = 0; v < context_.vectors(); ++v)
      queries.push_back(context_.load(from, fixed * block_ + v * b_.lanes()));
    for (size_t i = 0; i < sums.size(); ++i) {
      Value* at = b_.offset(rows[i / queries.size()], b_.f32(), d);
      Value* x = b_.load_broadcast(DType::f32, b_.offset(at, b_.f32(), fixed));
      sums[i] = b_.fma(x, queries[i % queries.size()], sums[i]);
    }
  }

  Value* hide_future(Value* score, Value* key, int v) {
    // Differences fit 32 bits wherever they matter.
    Value* distance = b_.ir().CreateTrunc(b_.sub(key, first_), b_.i32());
    Value* lanes =
        b_.add(b_.iota(b_.i32()), b_.splat(b_.i32(int32_t(v) * b_.lanes())));
    return b_.select(b_.le(b_.splat(distance), lanes), score,
                     b_.splat_f32(kMinusInfinity));
  }

  Value* score_at(Value* key, int v) {
    return b_.offset(context_.row(scores_, b_.sub(key, start_), block_),
                     b_.f32(), int64_t{v} * b_.lanes());
  }

  VectorBuilder& b_;
  const AttentionContext& context_;
  const program::AttentionForm& form_;
  int64_t block_;
  Value* k_;
  Value* k_row_;
  Value* first_;
  Value* queries_;
  Value* scores_;
  Value* start_;
  Value* end_;
};

Values load_all(const AttentionContext& context, Value* at) {
  Values loaded;
  for (int v = 0; v < context.vectors(); ++v)
    loaded.push_back(context.load(at, int64_t{v} * context.b.lanes()));
  return loaded;
}

void store_all(const AttentionContext& context, const Values& values,
               Value* at) {
  for (size_t v = 0; v < values.size(); ++v)
    context.store(values[v], at, int64_t(v) * context.b.lanes());
}

// Places in scratch, at the builder's position.
struct State {
  explicit State(const AttentionContext& context)
      : scores(context.region(context.places.scores_at)),
        maxima(context.region(context.places.maxima_at)),
        totals(context.region(context.places.totals_at)),
        factors(context.region(context.places.factors_at)) {}
  Value *scores, *maxima, *totals, *factors;
};

Values exponentiate(const AttentionContext& context, Value* scores,
                    Value* count, const Values& maxima) {
  VectorBuilder& b = context.b;
  const Values zeros(maxima.size(), b.splat_f32(0));
  return b.loop(
      b.i64(0), count, b.i64(1), zeros, [&](Value* key, const Values& before) {
        Values totals = before;
        Value* row = context.row(scores, key, context.block());
        for (size_t v = 0; v < maxima.size(); ++v) {
          const int64_t lane = int64_t(v) * b.lanes();
          Value* score = context.load(row, lane);
          Value* weight = emit_exp_softmax(b, b.sub(score, maxima[v]));
          context.store(weight, row, lane);
          totals[v] = b.add(totals[v], weight);
        }
        return totals;
      });
}

}  // namespace

void emit_scores(const AttentionContext& context, Value* start, Value* end,
                 AttentionSums how) {
  emit_part(
      context, "scores", {start, end},
      [&](const AttentionContext& inside, const Values& args) {
        VectorBuilder& b = inside.b;
        const State state(inside);
        const bool direct = how == AttentionSums::direct;
        const Values before =
            direct ? Values(size_t(inside.vectors()), b.splat_f32(kLowest))
                   : load_all(inside, state.maxima);
        const Values after = Scores(inside, args[0], args[1]).emit(before);
        store_all(inside, after, state.maxima);
        if (direct) return;
        Values factors;
        for (size_t v = 0; v < after.size(); ++v)
          factors.push_back(emit_exp_softmax(b, b.sub(before[v], after[v])));
        store_all(inside, factors, state.factors);
      });
}

void emit_exponentials(const AttentionContext& context, Value* count,
                       AttentionSums how) {
  emit_part(context, "exponentials", {count},
            [&](const AttentionContext& inside, const Values& args) {
              VectorBuilder& b = inside.b;
              const State state(inside);
              Values totals = exponentiate(inside, state.scores, args[0],
                                           load_all(inside, state.maxima));
              if (how == AttentionSums::direct) {
                for (Value*& total : totals)
                  total = inverse_total(inside, total);
                return store_all(inside, totals, state.factors);
              }
              const Values factors = load_all(inside, state.factors);
              const Values before = load_all(inside, state.totals);
              for (size_t v = 0; v < totals.size(); ++v)
                totals[v] = b.fma(before[v], factors[v], totals[v]);
              store_all(inside, totals, state.totals);
            });
}

}  // namespace fxjit::jit
