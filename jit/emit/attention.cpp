#include "jit/emit/attention.h"

#include <limits>

#include "jit/emit/attention_parts.h"
#include "jit/emit/kernel_function.h"
#include "jit/emit/vector_math.h"

namespace fxjit::jit {
namespace {

using program::AttentionStep;
using program::HeadAccess;

// The running maximum starts with a finite number, so that rows of minus
// infinities come out as zeros rather than as NaN.
constexpr float kLowest = std::numeric_limits<float>::lowest();

class Attention {
 public:
  Attention(VectorBuilder& b, const AttentionStep& step)
      : b_(b),
        step_(step),
        context_{b, step, program::attention_shape(step, b.level())},
        shape_(context_.shape) {}

  void emit() {
    const KernelArgs call(b_);
    const bool masked = step_.mask != AttentionStep::Mask::none;
    for (size_t i = 0; i < (masked ? 5u : 4u); ++i)
      operands_.push_back(call.operand(i));
    Value* scratch = call.scratch();
    b_.loop(call.begin(), call.end(), b_.i64(1),
            [&](Value* index) { emit_task(make_task(index, scratch)); });
    b_.ret();
  }

 private:
  // Tasks are numbered batch by batch, head by head.
  AttentionTask make_task(Value* index, Value* scratch) {
    auto& ir = b_.ir();
    const int64_t blocks = program::query_blocks(step_, shape_);
    Value* block = ir.CreateURem(index, b_.i64(blocks));
    Value* rest = ir.CreateUDiv(index, b_.i64(blocks));
    Value* head = ir.CreateURem(rest, b_.i64(step_.heads));
    Value* batch = ir.CreateUDiv(rest, b_.i64(step_.heads));
    const auto at = [&](size_t operand, const HeadAccess& access,
                        llvm::Type* type) {
      Value* elements = b_.add(ir.CreateMul(batch, b_.i64(access.batch)),
                               ir.CreateMul(head, b_.i64(access.head)));
      return b_.offset(operands_[operand], type, elements);
    };
    AttentionTask task{};
    task.q = at(0, step_.q, b_.f32());
    task.k = at(1, step_.k, b_.f32());
    task.v = at(2, step_.v, b_.f32());
    if (step_.mask != AttentionStep::Mask::none) {
      const bool additive = step_.mask == AttentionStep::Mask::additive;
      task.mask = at(3, step_.mask_access, additive ? b_.f32() : b_.i8());
    }
    task.out = at(operands_.size() - 1, step_.out, b_.f32());
    task.first = ir.CreateMul(block, b_.i64(shape_.block));
    task.count = b_.min(b_.sub(b_.i64(step_.queries), task.first),
                        b_.i64(shape_.block));
    task.queries = b_.offset(scratch, b_.f32(), shape_.queries_at);
    task.scores = b_.offset(scratch, b_.f32(), shape_.scores_at);
    task.factors = b_.offset(scratch, b_.f32(), shape_.factors_at);
    task.sums = b_.offset(scratch, b_.f32(), shape_.sums_at);
    return task;
  }

  void emit_task(const AttentionTask& task) {
    transpose_queries(task);
    if (shape_.key_blocks > 1)
      by_key_blocks(task);
    else
      all_keys(task);
  }

  // Keys that some query of the block sees are [0, this).
  Value* keys_end(const AttentionTask& task) {
    Value* keys = b_.i64(step_.keys);
    if (!step_.causal) return keys;
    return b_.min(keys, b_.add(task.first, b_.i64(shape_.block)));
  }

  Values splats(double value) {
    return Values(size_t(context_.vectors()), b_.splat_f32(value));
  }

  void all_keys(const AttentionTask& task) {
    Value* end = keys_end(task);
    const Values maxima =
        emit_scores(context_, task, b_.i64(0), end, splats(kLowest));
    const Values totals = emit_exponentials(context_, task, end, maxima);
    store_factors(task, inverses(totals));
    emit_values(context_, task, b_.i64(0), end, ValueSums::direct);
  }

  // Softmax in one pass: sums so far are scaled down whenever a key block
  // raises the maximum.
  void by_key_blocks(const AttentionTask& task) {
    clear_sums(task);
    Values state = splats(kLowest);
    for (Value* zero : splats(0)) state.push_back(zero);
    Value* keys = keys_end(task);
    Value* blocks = b_.i64(shape_.key_blocks);
    state = b_.loop(
        b_.i64(0), blocks, b_.i64(1), state,
        [&](Value* block, const Values& before) {
          Value* start = block_start(block);
          Value* end = b_.min(block_start(b_.add(block, b_.i64(1))), keys);
          if (!step_.causal) return add_keys(task, start, end, before);
          return b_.if_else(
              b_.lt(start, end),
              [&] { return add_keys(task, start, end, before); },
              [&] { return before; });
        });
    const Values totals(state.begin() + context_.vectors(), state.end());
    store_factors(task, inverses(totals));
    emit_output(context_, task);
  }

  Value* block_start(Value* block) {
    return b_.ir().CreateUDiv(b_.ir().CreateMul(block, b_.i64(step_.keys)),
                              b_.i64(shape_.key_blocks));
  }

  // `state` is the maxima, then the totals.
  Values add_keys(const AttentionTask& task, Value* start, Value* end,
                  const Values& state) {
    const auto vectors = size_t(context_.vectors());
    Values maxima(state.begin(), state.begin() + context_.vectors());
    const Values before = maxima;
    maxima = emit_scores(context_, task, start, end, maxima);
    Value* count = b_.sub(end, start);
    Values totals = emit_exponentials(context_, task, count, maxima);
    Values factors;
    for (size_t i = 0; i < vectors; ++i) {
      factors.push_back(emit_exp_softmax(b_, b_.sub(before[i], maxima[i])));
      totals[i] = b_.fma(state[vectors + i], factors[i], totals[i]);
    }
    store_factors(task, factors);
    emit_values(context_, task, start, count, ValueSums::accumulated);
    maxima.insert(maxima.end(), totals.begin(), totals.end());
    return maxima;
  }

  // A total of zero is that of a query which sees no key.
  Values inverses(const Values& totals) {
    Values inverse;
    for (Value* total : totals)
      inverse.push_back(b_.select(b_.eq(total, b_.splat_f32(0)),
                                  b_.splat_f32(0),
                                  b_.div(b_.splat_f32(1), total)));
    return inverse;
  }

  void store_factors(const AttentionTask& task, const Values& factors) {
    for (size_t i = 0; i < factors.size(); ++i)
      b_.store_raw(factors[i],
                   b_.offset(task.factors, b_.f32(), int64_t(i) * b_.lanes()),
                   context_.alignment());
  }

  void clear_sums(const AttentionTask& task) {
    b_.loop(b_.i64(0), b_.i64(shape_.block * shape_.sums_row),
            b_.i64(b_.lanes()), [&](Value* i) {
              b_.store_raw(b_.splat_f32(0), b_.offset(task.sums, b_.f32(), i),
                           context_.alignment());
            });
  }

  // The block's queries times the scale, [depth][block]. Lanes without a query
  // repeat the last one; so does the last chunk of a depth that is no multiple
  // of the lanes with columns.
  void transpose_queries(const AttentionTask& task) {
    const int64_t lanes = b_.lanes();
    if (step_.depth < lanes)
      return transpose_chunk(task, b_.i64(0), step_.depth);
    b_.loop(b_.i64(0), b_.i64(step_.depth), b_.i64(lanes), [&](Value* d) {
      transpose_chunk(task, b_.min(d, b_.i64(step_.depth - lanes)), lanes);
    });
  }

  void transpose_chunk(const AttentionTask& task, Value* d, int64_t columns) {
    if (columns == 0) return;
    Value* mask = columns < b_.lanes() ? b_.tail_mask(b_.i64(columns)) : nullptr;
    b_.loop(b_.i64(0), b_.i64(shape_.block), b_.i64(b_.lanes()),
            [&](Value* lane) {
              Values rows;
              for (int i = 0; i < b_.lanes(); ++i)
                rows.push_back(
                    query_row(task, b_.add(lane, b_.i64(i)), d, mask));
              rows = b_.transpose(rows);
              Value* to = context_.row(task.queries, d, shape_.block);
              to = b_.offset(to, b_.f32(), lane);
              for (int64_t c = 0; c < columns; ++c)
                b_.store_raw(rows[size_t(c)],
                             b_.offset(to, b_.f32(), c * shape_.block),
                             context_.alignment());
            });
  }

  Value* query_row(const AttentionTask& task, Value* index, Value* d,
                   Value* mask) {
    Value* row = b_.add(task.first, index);
    if (step_.queries % shape_.block != 0)
      row = b_.min(row, b_.i64(step_.queries - 1));
    Value* at = b_.offset(context_.row(task.q, row, step_.q.row), b_.f32(), d);
    Value* loaded =
        mask ? b_.load(DType::f32, at, mask) : b_.load(DType::f32, at);
    return b_.mul(loaded, b_.splat_f32(step_.scale));
  }

  VectorBuilder& b_;
  const AttentionStep& step_;
  AttentionContext context_;
  const program::AttentionShape& shape_;
  Values operands_;
};

}  // namespace

void emit_attention(VectorBuilder& b, const AttentionStep& step) {
  Attention(b, step).emit();
}

}  // namespace fxjit::jit
