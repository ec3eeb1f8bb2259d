// Attention of few queries: keys lie in lanes, so that a step that decodes one
// token uses whole vectors. Each key and value is read once from memory.
#include <algorithm>
#include <limits>
#include <vector>

#include "jit/emit/attention_parts.h"
#include "jit/emit/vector_math.h"

namespace fxjit::jit {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();
constexpr double kLowest = std::numeric_limits<float>::lowest();

class FewQueries {
 public:
  FewQueries(const AttentionContext& context, const AttentionTask& task)
      : b_(context.b),
        context_(context),
        step_(context.step),
        shape_(context.shape),
        task_(task),
        lanes_(b_.lanes()),
        scores_(context.region(task.scratch, shape_.scores_at)),
        maxima_(context.region(task.scratch, shape_.maxima_at)) {}

  void emit() {
    for_queries([&](Value* query) { start(query); });
    Value* last = b_.i64(step_.keys - lanes_);
    b_.loop(b_.i64(0), b_.i64(step_.keys), b_.i64(lanes_), [&](Value* key) {
      // The last keys are done twice where they fill no vector.
      if (step_.keys % lanes_ != 0) key = b_.min(key, last);
      for_queries([&](Value* query) { score_keys(query, key); });
    });
    for_queries([&](Value* query) { exponentiate(query); });
    sum_values();
  }

 private:
  void for_queries(llvm::function_ref<void(Value* query)> body) {
    if (step_.queries == 1) return body(b_.i64(0));
    b_.loop(b_.i64(0), b_.i64(step_.queries), b_.i64(1), body);
  }

  Value* scores_of(Value* query) {
    return context_.row(scores_, query, shape_.scores_row);
  }
  Value* maximum_of(Value* query) {
    return context_.row(maxima_, query, lanes_);
  }

  // What lies behind the last key is hidden.
  void start(Value* query) {
    context_.store(b_.splat_f32(kLowest), maximum_of(query));
    if (step_.keys % lanes_ != 0)
      context_.store(b_.splat_f32(kMinusInfinity), scores_of(query),
                     shape_.scores_row - lanes_);
  }

  void score_keys(Value* query, Value* key) {
    Value* q = context_.row(task_.q, query, step_.q.row);
    Value* rows = context_.row(task_.k, key, step_.k.row);
    const int64_t whole = step_.depth / lanes_ * lanes_;
    Values sums(size_t(lanes_), b_.splat_f32(0));
    sums = b_.loop(b_.i64(0), b_.i64(whole), b_.i64(lanes_), sums,
                   [&](Value* d, const Values& before) {
                     return products(q, rows, d, nullptr, before);
                   });
    if (const int64_t rest = step_.depth - whole)
      sums = products(q, rows, b_.i64(whole), b_.tail_mask(b_.i64(rest)), sums);
    Value* score = b_.mul(sum_each(sums), b_.splat_f32(double(step_.scale)));
    for (size_t i = 0; i < task_.masks.size(); ++i)
      score = emit_masked_keys(context_, step_.masks[i], task_.masks[i], query,
                               key, score);
    b_.store(DType::f32, score, b_.offset(scores_of(query), b_.f32(), key));
    Value* highest = maximum_of(query);
    context_.store(b_.max_fast(score, context_.load(highest)), highest);
  }

  // Adds a vector of depth of the query times those of as many keys as there
  // are lanes.
  Values products(Value* q, Value* rows, Value* d, Value* mask, Values sums) {
    const auto load = [&](Value* row) {
      Value* at = b_.offset(row, b_.f32(), d);
      return mask ? b_.load(DType::f32, at, mask) : b_.load(DType::f32, at);
    };
    Value* x = load(q);
    for (size_t r = 0; r < sums.size(); ++r)
      sums[r] =
          b_.fma(load(b_.offset(rows, b_.f32(), int64_t(r) * step_.k.row)), x,
                 sums[r]);
    return sums;
  }

  // Lane i is the sum of vector i: neighbours are added until one vector is
  // left.
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

  // Scores become weights; the maxima make room for the factors.
  void exponentiate(Value* query) {
    Value* scores = scores_of(query);
    Value* place = maximum_of(query);
    Value* highest = b_.splat(b_.reduce(Combine::max, context_.load(place)));
    const Values totals =
        b_.loop(b_.i64(0), b_.i64(shape_.scores_row), b_.i64(lanes_),
                Values{b_.splat_f32(0)}, [&](Value* key, const Values& before) {
                  Value* at = b_.offset(scores, b_.f32(), key);
                  Value* weight =
                      emit_exp_softmax(b_, b_.sub(context_.load(at), highest));
                  context_.store(weight, at);
                  return Values{b_.add(before[0], weight)};
                });
    Value* total = b_.splat(b_.reduce(Combine::sum, totals[0]));
    context_.store(inverse_total(context_, total), place);
  }

  // Vectors of value depth of one pass over the values, and the queries and
  // keys whose products fill the registers beside them.
  void sum_values() {
    constexpr int64_t kSums = 8, kQueries = 4;
    const int64_t all = (step_.value_depth + lanes_ - 1) / lanes_;
    for (int64_t query = 0; query < step_.queries;) {
      const int64_t queries = std::min(kQueries, step_.queries - query);
      const int64_t most = kSums / queries;
      for (int64_t v = 0; v < all;) {
        const int64_t vectors = std::min(most, all - v);
        sum_tile(query, queries, v, vectors);
        v += vectors;
      }
      query += queries;
    }
  }

  void sum_tile(int64_t query, int64_t queries, int64_t v, int64_t vectors) {
    const int64_t sides = queries * vectors <= 2 ? 4 : 2;
    const auto count = size_t(queries * vectors);
    Values sums(count * size_t(sides), b_.splat_f32(0));
    const int64_t whole = step_.keys / sides * sides;
    sums = b_.loop(b_.i64(0), b_.i64(whole), b_.i64(sides), sums,
                   [&](Value* key, const Values& before) {
                     Values next = before;
                     for (int64_t s = 0; s < sides; ++s)
                       add_key(next, size_t(s) * count, query, queries, v,
                               vectors, b_.add(key, b_.i64(s)));
                     return next;
                   });
    for (int64_t key = whole; key < step_.keys; ++key)
      add_key(sums, 0, query, queries, v, vectors, b_.i64(key));
    for (size_t i = 0; i < count; ++i) {
      Value* sum = sums[i];
      for (int64_t s = 1; s < sides; ++s)
        sum = b_.add(sum, sums[size_t(s) * count + i]);
      store_output(query + int64_t(i) / vectors, v + int64_t(i) % vectors, sum);
    }
  }

  // Sums from `first` on, query by query.
  void add_key(Values& sums, size_t first, int64_t query, int64_t queries,
               int64_t v, int64_t vectors, Value* key) {
    Value* row = context_.row(task_.v, key, step_.v.row);
    Values loaded;
    for (int64_t i = 0; i < vectors; ++i) {
      Value* at = b_.offset(row, b_.f32(), (v + i) * lanes_);
      Value* mask = mask_of(v + i);
      loaded.push_back(mask ? b_.load(DType::f32, at, mask)
                            : b_.load(DType::f32, at));
    }
    for (int64_t r = 0; r < queries; ++r) {
      Value* weight = b_.load_broadcast(
          DType::f32, b_.offset(scores_of(b_.i64(query + r)), b_.f32(), key));
      for (int64_t i = 0; i < vectors; ++i) {
        Value*& sum = sums[first + size_t(r * vectors + i)];
        sum = b_.fma(weight, loaded[size_t(i)], sum);
      }
    }
  }

  // The lanes of value vector `v` that are there; null: all.
  Value* mask_of(int64_t v) {
    const int64_t rest = step_.value_depth - v * lanes_;
    return rest >= lanes_ ? nullptr : b_.tail_mask(b_.i64(rest));
  }

  void store_output(int64_t query, int64_t v, Value* sum) {
    Value* value = b_.mul(sum, context_.load(maximum_of(b_.i64(query))));
    Value* at =
        b_.offset(task_.out, b_.f32(), query * step_.out.row + v * lanes_);
    if (Value* mask = mask_of(v))
      b_.store(DType::f32, value, at, mask);
    else
      b_.store(DType::f32, value, at);
  }

  VectorBuilder& b_;
  const AttentionContext& context_;
  const program::AttentionStep& step_;
  const program::AttentionShape& shape_;
  const AttentionTask& task_;
  int64_t lanes_;
  Value* scores_;
  Value* maxima_;
};

}  // namespace

void emit_few_queries(const AttentionContext& context,
                      const AttentionTask& task) {
  FewQueries(context, task).emit();
}

}  // namespace fxjit::jit
