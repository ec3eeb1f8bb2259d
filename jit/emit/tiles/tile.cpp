#include <algorithm>
#include <cstddef>

#include "jit/emit/epilogue.h"
#include "jit/emit/kernel_function.h"
#include "jit/emit/skeletons.h"
#include "jit/emit/tiles/blocked_sums.h"
#include "jit/emit/tiles/weights.h"
#include "src/program/cost/body_work.h"

namespace fxjit::jit {
namespace {

using program::TileCall;

// Products that are summed in one chain before their sum is added to the total.
constexpr int64_t kChain = 64;
constexpr int64_t kPairsAhead = 4096;  // Bytes.
constexpr int kUnrolled = 4, kLeastUnrolledRows = 4;
// Panels that are packed at once.
constexpr int64_t kPacked = 4;

class TileEmitter {
 public:
  TileEmitter(VectorBuilder& b, const program::TileForm& form)
      : b_(b),
        form_(form),
        width_(weights::register_tile(b.level()).width()),
        vectors_(form.vectors * form.panels),
        lhs_(call_pointer(b, offsetof(TileCall, lhs))),
        weights_(call_pointer(b, offsetof(TileCall, weights))),
        first_tile_(call_number(b, offsetof(TileCall, first_tile))),
        depth_(call_number(b, offsetof(TileCall, depth))),
        lhs_row_(call_number(b, offsetof(TileCall, lhs_row))),
        panel_bytes_(call_number(b, offsetof(TileCall, panel_bytes))),
        fetch_shift_(call_number(b, offsetof(TileCall, fetch_shift))),
        panel_weights_(b, form.weights, form.blocks, width_,
                       call_pointer(b, offsetof(TileCall, table))),
        operands_(b, form, call_pointer(b, offsetof(TileCall, operands))),
        together_(epilogue_vectors(form.epilogue)) {
    if (form.masked)
      mask_ = b_.tail_mask(call_number(b, offsetof(TileCall, last_lanes)));
  }

  void emit() {
    if (form_.packs) return make_panels();
    Value* tiles = call_number(b_, offsetof(TileCall, tiles));
    b_.loop(b_.i64(0), tiles, b_.i64(1), [&](Value* tile) {
      first_row_ = b_.mul(tile, b_.i64(form_.rows));
      if (!form_.has_window) set_addresses();
      if (form_.prefetches) ahead_ = fetch_address(tile);
      fetch_results();
      epilogue(sums());
    });
    b_.ret();
  }

 private:
  void make_panels() {
    Value* made = call_pointer(b_, offsetof(TileCall, made));
    if (form_.weights == weights::Format::blocks)
      BlockedSums(b_, form_, panel_weights_, depth_).decode(weights_, made);
    else
      pack(made);
    b_.ret();
  }

  // Row by row, of all panels.
  void pack(Value* made) {
    Value* panels = call_number(b_, offsetof(TileCall, tiles));
    const int64_t row_bytes = panel_weights_.row_bytes();
    b_.loop(b_.i64(0), depth_, b_.i64(1), [&](Value* k) {
      Value* from = elements(lhs_, b_.mul(k, lhs_row_));
      Value* to = b_.offset_bytes(made, b_.mul(k, b_.i64(row_bytes)));
      Value* whole = b_.bit_and(panels, b_.i64(-kPacked));
      const auto pack_panel = [&](Value* panel) {
        pack_row(elements(from, b_.mul(panel, b_.i64(width_))),
                 b_.offset_bytes(to, b_.mul(panel, panel_bytes_)));
      };
      b_.loop(b_.i64(0), whole, b_.i64(kPacked), [&](Value* panel) {
        for (int64_t i = 0; i < kPacked; ++i)
          pack_panel(b_.add(panel, b_.i64(i)));
      });
      b_.loop(whole, panels, b_.i64(1), pack_panel);
    });
  }

  void pack_row(Value* from, Value* to) {
    for (int v = 0; v < vectors_; ++v) {
      Value* at = b_.offset(from, b_.f32(), int64_t{v} * b_.lanes());
      Value* row = v == vectors_ - 1 && mask_ ? b_.load(DType::f32, at, mask_)
                                              : b_.load(DType::f32, at);
      b_.store_aligned(row, b_.offset(to, b_.vec(b_.f32()), v));
    }
  }

  Value* elements(Value* base, Value* count) {
    return b_.offset(base, b_.f32(), count);
  }

  int sum_count() const { return form_.rows * vectors_; }
  size_t parts() const { return static_cast<size_t>(form_.depth_parts); }
  size_t panels() const { return static_cast<size_t>(form_.panels); }
  size_t rows() const { return static_cast<size_t>(form_.rows); }

  // Computes where each row and each panel begins in each part of the depth.
  void set_addresses() {
    part_ = b_.ir().CreateUDiv(depth_, b_.i64(form_.depth_parts));
    rows_.clear();
    panels_.clear();
    for (size_t p = 0; p < parts(); ++p) {
      Value* begin = b_.mul(part_, b_.i64(static_cast<int64_t>(p)));
      for (int r = 0; r < form_.rows; ++r) {
        Value* row = b_.add(first_row_, b_.i64(r));
        rows_.push_back(elements(lhs_, b_.add(b_.mul(row, lhs_row_), begin)));
      }
      for (int q = 0; q < form_.panels; ++q)
        panels_.push_back(b_.offset_bytes(
            weights_,
            b_.add(b_.mul(panel_bytes_, b_.i64(q)),
                   b_.mul(begin, b_.i64(panel_weights_.row_bytes())))));
    }
  }

  // Results that are written in whole cache lines far apart would wait for
  // them: they are fetched before the sums.
  void fetch_results() {
    if (form_.rows == 1 || vectors_ * b_.lanes() * 4 > kCacheLine) return;
    const size_t extras = form_.extras.size();
    for (size_t i = 0; i < form_.outputs.size(); ++i)
      for (int r = 0; r < form_.rows; ++r)
        b_.prefetch_to_write(
            operands_.at(extras + i, b_.add(first_row_, b_.i64(r)), nullptr));
  }

  // The address from which this tile prefetches. The first tiles prefetch a
  // share of the next panel each; the others "prefetch" the panel that they
  // read anyway. Prefetching behind the end of memory is harmless.
  Value* fetch_address(Value* tile) {
    Value* number = b_.add(first_tile_, tile);
    Value* share = slowed(b_.mul(depth_, b_.i64(kCacheLine)));
    Value* next = b_.offset_bytes(weights_, panel_bytes_);
    Value* at = b_.offset_bytes(next, b_.mul(number, share));
    const int64_t tiles = program::fetching_tiles(width_);
    return b_.select(b_.lt(slowed(number), b_.i64(tiles)), at, weights_);
  }
  Value* slowed(Value* number) {
    return b_.ir().CreateLShr(number, fetch_shift_);
  }

  // All sums, row by row.
  Values sums() {
    const Values zeros(parts() * static_cast<size_t>(sum_count()),
                       b_.splat_f32(0));
    if (form_.has_window) return window_sums(zeros);
    if (form_.blocks.size > 0)
      return BlockedSums(b_, form_, panel_weights_, depth_)
          .of(rows_, panels_, zeros);
    if (!weights::is_paired(form_.weights))
      return add_parts(all_products(part_, zeros));
    return paired_sums(zeros);
  }

  // Tap by tap, whose rows of weights follow each other.
  Values window_sums(const Values& zeros) {
    Value* taps = call_number(b_, offsetof(TileCall, taps));
    Value* addresses = call_pointer(b_, offsetof(TileCall, addresses));
    Value* bytes = b_.mul(depth_, b_.i64(panel_weights_.row_bytes()));
    return b_.loop(
        b_.i64(0), taps, b_.i64(1), zeros, [&](Value* tap, const Values& sums) {
          rows_.clear();
          for (int r = 0; r < form_.rows; ++r) {
            Value* row = b_.add(first_row_, b_.i64(r));
            Value* at = b_.add(b_.mul(row, taps), tap);
            rows_.push_back(load_constant(
                b_, b_.ptr(), b_.offset(addresses, b_.ptr(), at), 0));
          }
          panels_ = {b_.offset_bytes(weights_, b_.mul(tap, bytes))};
          return all_products(depth_, sums);
        });
  }

  // Sums of weights in paired formats: short chains of products are summed and
  // then added up. Unpacking leaves time for that, and long chains would lose
  // more bits than the rounding of the weights.
  Values paired_sums(const Values& zeros) {
    Value* pairs = b_.ir().CreateAnd(depth_, b_.i64(~int64_t{1}));
    const Values start = start_sums();
    Values sums = b_.loop(
        b_.i64(0), pairs, b_.i64(kChain),
        panel_weights_.is_scaled() ? zeros : start,
        [&](Value* k, const Values& totals) {
          Value* end = b_.min(b_.add(k, b_.i64(kChain)), pairs);
          return added(totals, products(k, end, weights::kPairedRows, zeros));
        });
    sums = products(pairs, depth_, 1, sums);
    if (!panel_weights_.is_scaled()) return sums;
    for (int i = 0; i < sum_count(); ++i) {
      const auto at = static_cast<size_t>(i);
      sums[at] = panel_weights_.finish(sums[at], i % vectors_, start[at]);
    }
    return sums;
  }

  Values added(Values sums, const Values& more) {
    for (size_t i = 0; i < sums.size(); ++i) sums[i] = b_.add(sums[i], more[i]);
    return sums;
  }

  // Of a depth of any length. On AVX2 tiles of many rows take kUnrolled steps
  // at once, few enough rounds for the branch predictor to know the last one.
  Values all_products(Value* depth, const Values& sums) {
    if (form_.rows < kLeastUnrolledRows || b_.level() != CpuLevel::avx2)
      return products(b_.i64(0), depth, 1, sums);
    Value* whole = b_.bit_and(depth, b_.i64(-kUnrolled));
    return products(whole, depth, 1,
                    products(b_.i64(0), whole, kUnrolled, sums));
  }

  Values products(Value* begin, Value* end, int step, const Values& sums) {
    return b_.loop(begin, end, b_.i64(step), sums,
                   [&](Value* k, const Values& values) {
                     Values next = values;
                     if (step == weights::kPairedRows) fetch_pair(k);
                     for (int i = 0; i < step; ++i) {
                       if (form_.prefetches) fetch_ahead(b_.add(k, b_.i64(i)));
                       for (size_t p = 0; p < parts(); ++p)
                         accumulate(next, p, k, i);
                     }
                     return next;
                   });
  }

  Values start_sums() {
    Values sums;
    Value* start = call_pointer(b_, offsetof(TileCall, start));
    for (int i = 0; i < sum_count(); ++i)
      sums.push_back(
          b_.load(DType::f32, b_.offset(start, b_.vec(b_.f32()), i)));
    return sums;
  }

  Values add_parts(Values values) {
    const auto sums = static_cast<size_t>(sum_count());
    for (size_t count = parts(); count > 1; count /= 2)
      for (size_t i = 0; i < count / 2 * sums; ++i)
        values[i] = b_.add(values[i], values[i + count / 2 * sums]);
    values.resize(sums);
    return values;
  }

  // Adds the products of depth `k + fixed` to the sums of part `p`. Weights
  // that are unpacked are used one vector at a time, as few registers are left
  // to hold them.
  void accumulate(Values& sums, size_t p, Value* k, int64_t fixed) {
    const auto vectors = static_cast<size_t>(vectors_);
    Value** sum = &sums[p * static_cast<size_t>(sum_count())];
    Values weights, factors;
    const auto multiply = [&](size_t row, size_t vector) {
      Value*& to = sum[row * vectors + vector];
      to = b_.fma(factors[row], weights[vector], to);
    };
    const bool unpacks = weights::is_paired(form_.weights);
    for (size_t r = 0; unpacks && r < rows(); ++r)
      factors.push_back(factor(p, r, k, fixed));
    for (size_t v = 0; v < vectors; ++v) {
      weights.push_back(weight(p, v, k, fixed));
      for (size_t r = 0; unpacks && r < rows(); ++r) multiply(r, v);
    }
    for (size_t r = 0; !unpacks && r < rows(); ++r) {
      factors.push_back(factor(p, r, k, fixed));
      for (size_t v = 0; v < vectors; ++v) multiply(r, v);
    }
  }

  Value* factor(size_t p, size_t row, Value* k, int64_t fixed) {
    Value* from = elements(rows_[p * rows() + row], k);
    Value* factor =
        b_.load_broadcast(DType::f32, b_.offset(from, b_.f32(), fixed));
    return panel_weights_.is_scaled() ? panel_weights_.scaled_factor(factor)
                                      : factor;
  }

  Value* weight(size_t p, size_t vector, Value* k, int64_t fixed) {
    const auto each = static_cast<size_t>(form_.vectors);
    Value* block =
        b_.offset_bytes(panels_[p * panels() + vector / each],
                        b_.mul(k, b_.i64(panel_weights_.row_bytes())));
    return panel_weights_.vector(block, fixed,
                                 static_cast<int64_t>(vector % each));
  }

  void fetch_ahead(Value* k) {
    Value* line = slowed(k);
    b_.prefetch(b_.offset_bytes(ahead_, b_.mul(line, b_.i64(kCacheLine))), 2);
  }

  // Prefetches the pair of rows that is kPairsAhead bytes ahead. Weights in
  // memory arrive half as fast again as with the hardware's prefetching alone.
  void fetch_pair(Value* k) {
    const int64_t row = panel_weights_.row_bytes();
    Value* at = b_.offset_bytes(panels_[0], b_.mul(k, b_.i64(row)));
    for (int64_t byte = 0; byte < row * weights::kPairedRows;
         byte += kCacheLine)
      b_.prefetch(b_.offset_bytes(at, kPairsAhead + byte));
  }

  void epilogue(const Values& sums) {
    if (form_.rows == 1 ||
        program::body_cost(form_.epilogue) <= kInlineEpilogueCost) {
      for (int r = 0; r < form_.rows; ++r)
        finish_rows(b_.i64(r), 1,
                    [&](int v) { return sums[size_t(r * vectors_ + v)]; });
      return;
    }
    llvm::Type* vector = b_.vec(b_.f32());
    Value* kept = b_.stack_slot(llvm::ArrayType::get(vector, sums.size()));
    for (size_t i = 0; i < sums.size(); ++i)
      b_.store_aligned(sums[i],
                       b_.offset(kept, vector, static_cast<int64_t>(i)));
    const auto finish_kept = [&](Value* r, int rows) {
      Value* first = b_.offset(kept, vector, b_.mul(r, b_.i64(vectors_)));
      finish_rows(r, rows, [&](int v) {
        return b_.load_aligned(b_.offset(first, vector, v));
      });
    };
    const int rows = std::clamp(together_ / vectors_, 1, form_.rows);
    const int rest = form_.rows % rows;
    b_.loop(b_.i64(0), b_.i64(form_.rows - rest), b_.i64(rows),
            [&](Value* r) { finish_kept(r, rows); });
    if (rest > 0) finish_kept(b_.i64(form_.rows - rest), rest);
  }

  // Rows from `row` on, of which `sum` gives one vector after the other.
  void finish_rows(Value* row, int rows,
                   const std::function<Value*(int)>& sum) {
    std::vector<EpilogueVector> vectors;
    const auto finish = [&] {
      if (!vectors.empty())
        emit_tile_epilogue(b_, form_.epilogue, form_.extras, form_.outputs,
                           vectors);
      vectors.clear();
    };
    for (int i = 0; i < rows * vectors_; ++i) {
      const int v = i % vectors_;
      Value* r = b_.add(first_row_, b_.add(row, b_.i64(i / vectors_)));
      Value* column = v == 0 ? nullptr : b_.i64(int64_t{v} * b_.lanes());
      vectors.push_back({sum(i), v == vectors_ - 1 ? mask_ : nullptr,
                         [this, r, column](size_t operand) {
                           return operands_.at(operand, r, column);
                         }});
      if (vectors.size() == size_t(together_)) finish();
    }
    finish();
  }

  VectorBuilder& b_;
  const program::TileForm& form_;
  int64_t width_;
  int vectors_;  // Of one row.
  Value *lhs_, *weights_, *first_tile_, *depth_, *lhs_row_, *panel_bytes_,
      *fetch_shift_;
  TileWeights panel_weights_;
  EpilogueOperands operands_;
  int together_;  // Vectors of the epilogue.
  Value* mask_ = nullptr;
  // State of the tile that is being emitted.
  Value *first_row_ = nullptr, *part_ = nullptr, *ahead_ = nullptr;
  Values rows_, panels_;  // [part][row], [part][panel]
};

}  // namespace

void emit(VectorBuilder& b, const program::TileForm& form) {
  if (form.lhs != DType::f32 || form.sums != DType::f32)
    throw InternalError("[jit] no tile of " +
                        std::string(dtype_name(form.lhs)) + " with sums of " +
                        std::string(dtype_name(form.sums)));
  TileEmitter(b, form).emit();
}

}  // namespace fxjit::jit
