#include <cstddef>

#include "jit/emit/attention/parts.h"
#include "jit/emit/skeletons.h"

namespace fxjit::jit {
namespace {

using program::AttentionCall;
using program::AttentionForm;

class Attention {
 public:
  Attention(VectorBuilder& b, const AttentionForm& form)
      : b_(b), form_(form), context_(b, form) {}

  void emit() {
    if (form_.few)
      emit_few_queries(context_);
    else
      emit_block();
    b_.ret();
  }

 private:
  void emit_block() {
    emit_queries(context_);
    if (form_.by_key_blocks) return by_key_blocks();
    Value* end = keys_end();
    emit_scores(context_, b_.i64(0), end, AttentionSums::direct);
    emit_exponentials(context_, end, AttentionSums::direct);
    emit_values(context_, b_.i64(0), end, AttentionSums::direct);
  }

  Value* keys() { return context_.number(offsetof(AttentionCall, keys)); }

  // Keys that some query of the block sees are [0, this).
  Value* keys_end() {
    if (!form_.causal) return keys();
    Value* first = context_.number(offsetof(AttentionCall, first));
    return b_.min(keys(), b_.add(first, b_.i64(context_.block())));
  }

  // Softmax in one pass: sums so far shrink whenever a key block raises the
  // maximum.
  void by_key_blocks() {
    emit_start(context_);
    Value* keys = keys_end();
    Value* blocks = context_.number(offsetof(AttentionCall, key_blocks));
    b_.loop(b_.i64(0), blocks, b_.i64(1), [&](Value* block) {
      Value* start = block_start(block, blocks);
      Value* end = b_.min(block_start(b_.add(block, b_.i64(1)), blocks), keys);
      if (!form_.causal) return add_keys(start, end);
      b_.if_then(b_.lt(start, end), [&] { add_keys(start, end); });
    });
    emit_output(context_);
  }

  Value* block_start(Value* block, Value* blocks) {
    return b_.ir().CreateUDiv(b_.mul(block, keys()), blocks);
  }

  void add_keys(Value* start, Value* end) {
    constexpr AttentionSums how = AttentionSums::accumulated;
    Value* count = b_.sub(end, start);
    emit_scores(context_, start, end, how);
    emit_exponentials(context_, count, how);
    emit_values(context_, start, count, how);
  }

  VectorBuilder& b_;
  const AttentionForm& form_;
  AttentionContext context_;
};

}  // namespace

void emit(VectorBuilder& b, const AttentionForm& form) {
  Attention(b, form).emit();
}

}  // namespace fxjit::jit
