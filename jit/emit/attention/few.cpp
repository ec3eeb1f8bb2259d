// Attention of few queries. Keys lie in lanes, so that decoding one token uses
// whole vectors. Each key and each value is read from memory once.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "jit/emit/attention/parts.h"
#include "jit/emit/vector_math.h"

namespace fxjit::jit {
namespace {

using program::AttentionCall;

class FewQueries {
 public:
  explicit FewQueries(const AttentionContext& context)
      : b_(context.b),
        context_(context),
        form_(context.form),
        lanes_(b_.lanes()),
        q_(context.pointer(offsetof(AttentionCall, q))),
        k_(context.pointer(offsetof(AttentionCall, k))),
        v_(context.pointer(offsetof(AttentionCall, v))),
        out_(context.pointer(offsetof(AttentionCall, out))),
        q_row_(context.number(offsetof(AttentionCall, q_row))),
        k_row_(context.number(offsetof(AttentionCall, k_row))),
        v_row_(context.number(offsetof(AttentionCall, v_row))),
        out_row_(context.number(offsetof(AttentionCall, out_row))),
        queries_(context.number(offsetof(AttentionCall, queries))),
        keys_(context.number(offsetof(AttentionCall, keys))),
        scores_row_(context.number(offsetof(AttentionCall, scores_row))),
        scores_(context.region(context.places.scores_at)),
        maxima_(context.region(context.places.maxima_at)) {}

  void emit() {
    for_queries([&](Value* query) { start(query); });
    // If the keys do not fill whole vectors, the last vector overlaps the one
    // before.
    Value* last = b_.sub(keys_, b_.i64(lanes_));
    b_.loop(b_.i64(0), keys_, b_.i64(lanes_), [&](Value* key) {
      for_queries([&](Value* query) { score_keys(query, b_.min(key, last)); });
    });
    for_queries([&](Value* query) { exponentiate(query); });
    sum_values();
  }

 private:
  void for_queries(llvm::function_ref<void(Value* query)> body) {
    if (form_.rows == 1) return body(b_.i64(0));
    b_.loop(b_.i64(0), queries_, b_.i64(1), body);
  }

  Value* scores_of(Value* query) {
    return context_.row(scores_, query, scores_row_);
  }
  Value* maximum_of(Value* query) {
    return context_.row(maxima_, query, lanes_);
  }

  // Hides the places behind the last key.
  void start(Value* query) {
    context_.store(b_.splat_f32(kLowest), maximum_of(query));
    Value* row_end = b_.offset(scores_of(query), b_.f32(), scores_row_);
    context_.store(b_.splat_f32(kMinusInfinity), row_end, -lanes_);
  }

  void score_keys(Value* query, Value* key) {
    Value* q = context_.row(q_, query, q_row_);
    Value* rows = context_.row(k_, key, k_row_);
    const int64_t whole = form_.depth / lanes_ * lanes_;
    Values sums(size_t(lanes_), b_.splat_f32(0));
    sums = b_.loop(b_.i64(0), b_.i64(whole), b_.i64(lanes_), sums,
                   [&](Value* d, const Values& before) {
                     return products(q, rows, d, nullptr, before);
                   });
    if (const int64_t rest = form_.depth - whole)
      sums = products(q, rows, b_.i64(whole), b_.tail_mask(b_.i64(rest)), sums);
    Value* score = b_.mul(sum_each(sums), b_.splat_f32(double(form_.scale)));
    score = emit_masked_keys(context_, query, key, score);
    b_.store(DType::f32, score, b_.offset(scores_of(query), b_.f32(), key));
    Value* highest = maximum_of(query);
    context_.store(b_.max_fast(score, context_.load(highest)), highest);
  }

  // Multiplies one vector of the query's depth with those of lanes() keys, and
  // adds the products to `sums`, one sum for each key. Only every fourth row
  // address is computed; the addressing modes of loads add the rest.
  Values products(Value* q, Value* rows, Value* d, Value* mask, Values sums) {
    Value* x = b_.load(DType::f32, b_.offset(q, b_.f32(), d), mask);
    Value* fourth = nullptr;
    for (size_t r = 0; r < sums.size(); ++r) {
      if (r % 4 == 0)
        fourth = b_.offset(context_.row(rows, b_.i64(int64_t(r)), k_row_),
                           b_.f32(), d);
      Value* at = context_.row(fourth, b_.i64(int64_t(r % 4)), k_row_);
      sums[r] = b_.fma(b_.load(DType::f32, at, mask), x, sums[r]);
    }
    return sums;
  }

  // A vector whose lane i is the sum of all lanes of vector i: neighbouring
  // lanes are added until one vector is left.
  Value* sum_each(Values vectors) {
    std::vector<int> even, odd;
    for (int i = 0; i < 2 * lanes_; i += 2) {
      even.push_back(i);
      odd.push_back(i + 1);
    }
    while (vectors.size() > 1) {
      Values pairs;
      for (size_t i = 0; i < vectors.size(); i += 2) {
        Value *a = vectors[i], *c = vectors[i + 1];
        pairs.push_back(b_.add(b_.ir().CreateShuffleVector(a, c, even),
                               b_.ir().CreateShuffleVector(a, c, odd)));
      }
      vectors = pairs;
    }
    return vectors[0];
  }

  // Turns the scores into weights. The maxima are overwritten by the factors.
  void exponentiate(Value* query) {
    Value* scores = scores_of(query);
    Value* place = maximum_of(query);
    Value* highest =
        b_.splat(b_.reduce(context_.load(place),
                           [&](Value* x, Value* y) { return b_.max(x, y); }));
    const Values totals =
        b_.loop(b_.i64(0), scores_row_, b_.i64(lanes_), Values{b_.splat_f32(0)},
                [&](Value* key, const Values& before) {
                  Value* at = b_.offset(scores, b_.f32(), key);
                  Value* weight =
                      emit_exp_softmax(b_, b_.sub(context_.load(at), highest));
                  context_.store(weight, at);
                  return Values{b_.add(before[0], weight)};
                });
    Value* total = b_.splat(
        b_.reduce(totals[0], [&](Value* x, Value* y) { return b_.add(x, y); }));
    context_.store(inverse_total(context_, total), place);
  }

  // Sums the weighted values. One pass over the values has as many queries and
  // vectors of value depth as fill the registers with sums. If the queries do
  // not fill whole tiles, the last tile overlaps the one before.
  void sum_values() {
    constexpr int64_t kSums = 8;
    const int64_t all = (form_.value_depth + lanes_ - 1) / lanes_;
    const int64_t most = kSums / form_.rows;
    const auto tiles = [&](Value* query) {
      for (int64_t v = 0; v < all; v += most)
        sum_tile(query, v, std::min(most, all - v));
    };
    if (form_.rows == 1) return tiles(b_.i64(0));
    Value* last = b_.sub(queries_, b_.i64(form_.rows));
    b_.loop(b_.i64(0), queries_, b_.i64(form_.rows),
            [&](Value* query) { tiles(b_.min(query, last)); });
  }

  void sum_tile(Value* query, int64_t v, int64_t vectors) {
    const int64_t sides = form_.rows * vectors <= 2 ? 4 : 2;
    const auto count = size_t(form_.rows * vectors);
    Values sums(count * size_t(sides), b_.splat_f32(0));
    Value* whole = b_.bit_and(keys_, b_.i64(-sides));
    sums = b_.loop(b_.i64(0), whole, b_.i64(sides), sums,
                   [&](Value* key, const Values& before) {
                     Values next = before;
                     for (int64_t s = 0; s < sides; ++s)
                       add_key(next, size_t(s) * count, query, v, vectors,
                               b_.add(key, b_.i64(s)));
                     return next;
                   });
    sums = b_.loop(whole, keys_, b_.i64(1), sums,
                   [&](Value* key, const Values& before) {
                     Values next = before;
                     add_key(next, 0, query, v, vectors, key);
                     return next;
                   });
    for (size_t i = 0; i < count; ++i) {
      Value* sum = sums[i];
      for (int64_t s = 1; s < sides; ++s)
        sum = b_.add(sum, sums[size_t(s) * count + i]);
      const auto r = int64_t(i) / vectors;
      store_output(b_.add(query, b_.i64(r)), v + int64_t(i) % vectors, sum);
    }
  }

  // Sums from `first` on, query by query.
  void add_key(Values& sums, size_t first, Value* query, int64_t v,
               int64_t vectors, Value* key) {
    Value* row = context_.row(v_, key, v_row_);
    Values loaded;
    for (int64_t i = 0; i < vectors; ++i) {
      Value* at = b_.offset(row, b_.f32(), (v + i) * lanes_);
      loaded.push_back(b_.load(DType::f32, at, mask_of(v + i)));
    }
    for (int64_t r = 0; r < form_.rows; ++r) {
      Value* weights = scores_of(b_.add(query, b_.i64(r)));
      Value* weight =
          b_.load_broadcast(DType::f32, b_.offset(weights, b_.f32(), key));
      for (int64_t i = 0; i < vectors; ++i) {
        Value*& sum = sums[first + size_t(r * vectors + i)];
        sum = b_.fma(weight, loaded[size_t(i)], sum);
      }
    }
  }

  // The lanes of value vector `v` that hold a value; null if all do.
  Value* mask_of(int64_t v) {
    const int64_t rest = form_.value_depth - v * lanes_;
    return rest >= lanes_ ? nullptr : b_.tail_mask(b_.i64(rest));
  }

  void store_output(Value* query, int64_t v, Value* sum) {
    Value* value = b_.mul(sum, context_.load(maximum_of(query)));
    Value* at =
        b_.offset(context_.row(out_, query, out_row_), b_.f32(), v * lanes_);
    b_.store(DType::f32, value, at, mask_of(v));
  }

  VectorBuilder& b_;
  const AttentionContext& context_;
  const program::AttentionForm& form_;
  int64_t lanes_;
  Value *q_, *k_, *v_, *out_;
  Value *q_row_, *k_row_, *v_row_, *out_row_;
  Value *queries_, *keys_, *scores_row_;
  Value* scores_;
  Value* maxima_;
};

}  // namespace

void emit_few_queries(const AttentionContext& context) {
  FewQueries(context).emit();
}

}  // namespace fxjit::jit
