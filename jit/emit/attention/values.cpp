// Attention: sums of values weighted with exponentiated scores.
#include <algorithm>
#include <cstddef>

#include "jit/emit/attention/parts.h"

namespace fxjit::jit {
namespace {

using program::AttentionCall;

// Sums that fit the registers beside a row of values.
int64_t max_sums(CpuLevel level) {
  switch (level) {
    case CpuLevel::avx512:
      return 16;
    case CpuLevel::avx2:
      return 12;
    case CpuLevel::sse41:
      return 8;  // Products need a register too.
  }
  return 0;
}

// `vectors` vectors from column `at` on; only `last_lanes` of the last one are
// there, 0 if all.
struct Columns {
  Value* at;
  int64_t vectors;
  int64_t last_lanes;
};

class ValueTiles {
 public:
  explicit ValueTiles(const AttentionContext& context)
      : b_(context.b),
        context_(context),
        form_(context.form),
        v_(context.pointer(offsetof(AttentionCall, v))),
        v_row_(context.number(offsetof(AttentionCall, v_row))),
        out_(context.pointer(offsetof(AttentionCall, out))),
        out_row_(context.number(offsetof(AttentionCall, out_row))),
        first_(context.number(offsetof(AttentionCall, first))),
        count_(context.number(offsetof(AttentionCall, count))),
        scores_(context.region(context.places.scores_at)),
        factors_(context.region(context.places.factors_at)),
        sums_(context.region(context.places.sums_at)),
        rows_(context.form.rows) {
    const int64_t vectors = context.places.sums_row / b_.lanes();
    const int64_t most = max_sums(b_.level()) / rows_;
    const int64_t tiles = std::max<int64_t>(1, (vectors + most - 1) / most);
    vectors_ = (vectors + tiles - 1) / tiles;
  }

  void sum(Value* start, Value* count, AttentionSums how) {
    Value* values = context_.row(v_, start, v_row_);
    for_tiles([&](Value* query, const Columns& columns) {
      Values sums = how == AttentionSums::direct ? zeros(columns)
                                                 : scaled_sums(query, columns);
      sums = weighted(values, count, query, columns, sums);
      if (how == AttentionSums::direct)
        store_output(query, columns, sums);
      else
        store_sums(query, columns, sums);
    });
  }

  void output() {
    for_tiles([&](Value* query, const Columns& columns) {
      Values sums;
      for_vectors(columns, [&](int64_t r, int64_t v) {
        sums.push_back(context_.load(sum_at(query, r, columns, v)));
      });
      store_output(query, columns, sums);
    });
  }

 private:
  void for_tiles(
      llvm::function_ref<void(Value* query, const Columns&)> emit_tile) {
    b_.loop(b_.i64(0), count_, b_.i64(rows_), [&](Value* query) {
      const int64_t lanes = b_.lanes();
      const int64_t width = vectors_ * lanes;
      if (width == 0) return;
      const int64_t whole = form_.value_depth / width * width;
      b_.loop(b_.i64(0), b_.i64(whole), b_.i64(width),
              [&](Value* at) { emit_tile(query, {at, vectors_, 0}); });
      const int64_t rest = form_.value_depth - whole;
      if (rest == 0) return;
      emit_tile(query,
                {b_.i64(whole), (rest + lanes - 1) / lanes, rest % lanes});
    });
  }

  void for_vectors(const Columns& columns,
                   llvm::function_ref<void(int64_t r, int64_t v)> visit) {
    for (int64_t r = 0; r < rows_; ++r)
      for (int64_t v = 0; v < columns.vectors; ++v) visit(r, v);
  }

  Values zeros(const Columns& columns) {
    return Values(size_t(rows_ * columns.vectors), b_.splat_f32(0));
  }

  // The lanes of a column vector that are there; null: all.
  Value* mask_of(const Columns& columns, int64_t v) {
    if (columns.last_lanes == 0 || v + 1 < columns.vectors) return nullptr;
    return b_.tail_mask(b_.i64(columns.last_lanes));
  }

  Value* factor(Value* query, int64_t r) {
    Value* at = b_.offset(b_.offset(factors_, b_.f32(), query), b_.f32(), r);
    return b_.load_broadcast(DType::f32, at);
  }

  Value* sum_at(Value* query, int64_t r, const Columns& columns, int64_t v) {
    Value* row =
        context_.row(sums_, b_.add(query, b_.i64(r)), context_.places.sums_row);
    return b_.offset(b_.offset(row, b_.f32(), columns.at), b_.f32(),
                     v * b_.lanes());
  }

  Values scaled_sums(Value* query, const Columns& columns) {
    Values sums;
    for_vectors(columns, [&](int64_t r, int64_t v) {
      Value* sum = context_.load(sum_at(query, r, columns, v));
      sums.push_back(b_.mul(sum, factor(query, r)));
    });
    return sums;
  }

  Values weighted(Value* values, Value* count, Value* query,
                  const Columns& columns, const Values& init) {
    return b_.loop(
        b_.i64(0), count, b_.i64(1), init,
        [&](Value* key, const Values& before) {
          Value* row = b_.offset(context_.row(values, key, v_row_), b_.f32(),
                                 columns.at);
          Values loaded;
          for (int64_t v = 0; v < columns.vectors; ++v) {
            Value* at = b_.offset(row, b_.f32(), v * b_.lanes());
            loaded.push_back(b_.load(DType::f32, at, mask_of(columns, v)));
          }
          Value* weights = b_.offset(
              context_.row(scores_, key, context_.block()), b_.f32(), query);
          Values sums = before;
          for_vectors(columns, [&](int64_t r, int64_t v) {
            Value* weight =
                b_.load_broadcast(DType::f32, b_.offset(weights, b_.f32(), r));
            Value*& sum = sums[size_t(r * columns.vectors + v)];
            sum = b_.fma(weight, loaded[size_t(v)], sum);
          });
          return sums;
        });
  }

  void store_sums(Value* query, const Columns& columns, const Values& sums) {
    size_t i = 0;
    for_vectors(columns, [&](int64_t r, int64_t v) {
      context_.store(sums[i++], sum_at(query, r, columns, v));
    });
  }

  // Rows behind the last query are stored in its place, and it after them.
  void store_output(Value* query, const Columns& columns, const Values& sums) {
    Value* first = b_.add(first_, query);
    for (int64_t r = rows_; r-- > 0;)
      store_row(context_.query(first, r), r, query, columns, sums);
  }

  void store_row(Value* index, int64_t r, Value* query, const Columns& columns,
                 const Values& sums) {
    Value* scale = factor(query, r);
    Value* row =
        b_.offset(context_.row(out_, index, out_row_), b_.f32(), columns.at);
    for (int64_t v = 0; v < columns.vectors; ++v) {
      Value* at = b_.offset(row, b_.f32(), v * b_.lanes());
      Value* value = b_.mul(sums[size_t(r * columns.vectors + v)], scale);
      b_.store(DType::f32, value, at, mask_of(columns, v));
    }
  }

  VectorBuilder& b_;
  const AttentionContext& context_;
  const program::AttentionForm& form_;
  Value* v_;
  Value* v_row_;
  Value* out_;
  Value* out_row_;
  Value* first_;
  Value* count_;
  Value* scores_;
  Value* factors_;
  Value* sums_;
  int64_t rows_;     // Queries of one tile.
  int64_t vectors_;  // Vectors of value depth of a whole one.
};

void store_inverse_totals(const AttentionContext& context) {
  Value* totals = context.region(context.places.totals_at);
  Value* factors = context.region(context.places.factors_at);
  for (int v = 0; v < context.vectors(); ++v) {
    const int64_t lane = int64_t{v} * context.b.lanes();
    context.store(inverse_total(context, context.load(totals, lane)), factors,
                  lane);
  }
}

}  // namespace

void emit_values(const AttentionContext& context, Value* start, Value* count,
                 AttentionSums how) {
  emit_part(context, "values", {start, count},
            [&](const AttentionContext& inside, const Values& args) {
              ValueTiles(inside).sum(args[0], args[1], how);
            });
}

void emit_output(const AttentionContext& context) {
  emit_part(context, "output", {},
            [](const AttentionContext& inside, const Values&) {
              store_inverse_totals(inside);
              ValueTiles(inside).output();
            });
}

}  // namespace fxjit::jit
