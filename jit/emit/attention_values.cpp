// Attention: sums of values weighted with exponentiated scores.
#include <algorithm>
#include <functional>

#include "jit/emit/attention_parts.h"

namespace fxjit::jit {
namespace {

// Vectors of value depth that one tile sums.
constexpr int64_t kTileVectors = 2;

// `vectors` vectors from column `at` on; only `last_lanes` of the last one are
// there, 0 if all.
struct Columns {
  Value* at;
  int64_t vectors;
  int64_t last_lanes;
};

class ValueTiles {
 public:
  ValueTiles(const AttentionContext& context, const AttentionTask& task)
      : b_(context.b),
        context_(context),
        step_(context.step),
        shape_(context.shape),
        task_(task) {
    const int64_t most = b_.level() == CpuLevel::avx512 ? 8 : 4;
    rows_ = std::clamp<int64_t>(step_.queries, 1, most);
  }

  void sum(Value* start, Value* count, ValueSums how) {
    Value* values = context_.row(task_.v, start, step_.v.row);
    for_tiles([&](Value* query, const Columns& columns) {
      Values sums = how == ValueSums::direct ? zeros(columns)
                                             : scaled_sums(query, columns);
      sums = weighted(values, count, query, columns, sums);
      if (how == ValueSums::direct)
        store_output(query, columns, sums);
      else
        store_sums(query, columns, sums);
    });
  }

  void output() {
    for_tiles([&](Value* query, const Columns& columns) {
      Values sums;
      for_vectors(columns, [&](int64_t r, int64_t v) {
        sums.push_back(b_.load_raw(b_.vec(b_.f32()),
                                   sum_at(query, r, columns, v),
                                   context_.alignment()));
      });
      store_output(query, columns, sums);
    });
  }

 private:
  void for_tiles(
      llvm::function_ref<void(Value* query, const Columns&)> emit_tile) {
    b_.loop(b_.i64(0), task_.count, b_.i64(rows_), [&](Value* query) {
      const int64_t lanes = b_.lanes();
      const int64_t width = kTileVectors * lanes;
      const int64_t whole = step_.value_depth / width * width;
      b_.loop(b_.i64(0), b_.i64(whole), b_.i64(width), [&](Value* at) {
        emit_tile(query, {at, kTileVectors, 0});
      });
      const int64_t rest = step_.value_depth - whole;
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
    Value* at = b_.offset(b_.offset(task_.factors, b_.f32(), query), b_.f32(), r);
    return b_.load_broadcast(DType::f32, at);
  }

  Value* sum_at(Value* query, int64_t r, const Columns& columns, int64_t v) {
    Value* row = context_.row(task_.sums, b_.add(query, b_.i64(r)),
                              shape_.sums_row);
    return b_.offset(b_.offset(row, b_.f32(), columns.at), b_.f32(),
                     v * b_.lanes());
  }

  Values scaled_sums(Value* query, const Columns& columns) {
    Values sums;
    for_vectors(columns, [&](int64_t r, int64_t v) {
      Value* sum = b_.load_raw(b_.vec(b_.f32()), sum_at(query, r, columns, v),
                               context_.alignment());
      sums.push_back(b_.mul(sum, factor(query, r)));
    });
    return sums;
  }

  Values weighted(Value* values, Value* count, Value* query,
                  const Columns& columns, const Values& init) {
    return b_.loop(
        b_.i64(0), count, b_.i64(1), init,
        [&](Value* key, const Values& before) {
          Value* row = b_.offset(context_.row(values, key, step_.v.row),
                                 b_.f32(), columns.at);
          Values loaded;
          for (int64_t v = 0; v < columns.vectors; ++v) {
            Value* at = b_.offset(row, b_.f32(), v * b_.lanes());
            Value* mask = mask_of(columns, v);
            loaded.push_back(mask ? b_.load(DType::f32, at, mask)
                                  : b_.load(DType::f32, at));
          }
          Value* weights = b_.offset(
              context_.row(task_.scores, key, shape_.block), b_.f32(), query);
          Values sums = before;
          for_vectors(columns, [&](int64_t r, int64_t v) {
            Value* weight = b_.load_broadcast(
                DType::f32, b_.offset(weights, b_.f32(), r));
            Value*& sum = sums[size_t(r * columns.vectors + v)];
            sum = b_.fma(weight, loaded[size_t(v)], sum);
          });
          return sums;
        });
  }

  void store_sums(Value* query, const Columns& columns, const Values& sums) {
    size_t i = 0;
    for_vectors(columns, [&](int64_t r, int64_t v) {
      b_.store_raw(sums[i++], sum_at(query, r, columns, v),
                   context_.alignment());
    });
  }

  void store_output(Value* query, const Columns& columns, const Values& sums) {
    for (int64_t r = 0; r < rows_; ++r) {
      Value* index = b_.add(query, b_.i64(r));
      const auto store = [&] { store_row(index, r, query, columns, sums); };
      // Tiles are whole unless the last block of queries is cut within one.
      if (r == 0 || step_.queries % shape_.block % rows_ == 0)
        store();
      else
        b_.if_then(b_.lt(index, task_.count), store);
    }
  }

  void store_row(Value* index, int64_t r, Value* query, const Columns& columns,
                 const Values& sums) {
    Value* scale = factor(query, r);
    Value* row = b_.offset(
        context_.row(task_.out, b_.add(task_.first, index), step_.out.row),
        b_.f32(), columns.at);
    for (int64_t v = 0; v < columns.vectors; ++v) {
      Value* at = b_.offset(row, b_.f32(), v * b_.lanes());
      Value* value = b_.mul(sums[size_t(r * columns.vectors + v)], scale);
      Value* mask = mask_of(columns, v);
      if (mask)
        b_.store(DType::f32, value, at, mask);
      else
        b_.store(DType::f32, value, at);
    }
  }

  VectorBuilder& b_;
  const AttentionContext& context_;
  const program::AttentionStep& step_;
  const program::AttentionShape& shape_;
  const AttentionTask& task_;
  int64_t rows_;  // Queries of one tile.
};

}  // namespace

void emit_values(const AttentionContext& context, const AttentionTask& task,
                 Value* start, Value* count, ValueSums how) {
  ValueTiles(context, task).sum(start, count, how);
}

void emit_output(const AttentionContext& context, const AttentionTask& task) {
  ValueTiles(context, task).output();
}

}  // namespace fxjit::jit
