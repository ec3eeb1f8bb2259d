#include "jit/emit/attention.h"

#include "jit/emit/attention_parts.h"
#include "jit/emit/kernel_function.h"

namespace fxjit::jit {
namespace {

using program::AttentionMask;
using program::AttentionStep;
using program::HeadAccess;

class Attention {
 public:
  Attention(VectorBuilder& b, const AttentionStep& step)
      : b_(b),
        step_(step),
        context_{b, step, program::attention_shape(step, b.level())},
        shape_(context_.shape) {}

  void emit() {
    const KernelArgs call(b_);
    for (size_t i = 0; i < 4 + step_.masks.size(); ++i)
      operands_.push_back(call.operand(i));
    Value* scratch = call.scratch();
    b_.loop(call.begin(), call.end(), b_.i64(1),
            [&](Value* index) { emit_task(make_task(index, scratch)); });
    b_.ret();
  }

 private:
  // Tasks are numbered batch by batch, head by head, block by block.
  AttentionTask make_task(Value* index, Value* scratch) {
    auto& ir = b_.ir();
    const int64_t blocks = program::query_blocks(step_, shape_);
    Value* block = ir.CreateURem(index, b_.i64(blocks));
    Value* rest = ir.CreateUDiv(index, b_.i64(blocks));
    Value* head = ir.CreateURem(rest, b_.i64(step_.heads));
    rest = ir.CreateUDiv(rest, b_.i64(step_.heads));
    Value* batch = ir.CreateURem(rest, b_.i64(step_.batch));
    Value* outer = ir.CreateUDiv(rest, b_.i64(step_.batch));
    const auto at = [&](size_t operand, const HeadAccess& access,
                        llvm::Type* type) {
      Value* elements = b_.add(ir.CreateMul(batch, b_.i64(access.batch)),
                               ir.CreateMul(head, b_.i64(access.head)));
      elements = b_.add(elements, ir.CreateMul(outer, b_.i64(access.outer)));
      return b_.offset(operands_[operand], type, elements);
    };
    AttentionTask task{};
    task.q = at(0, step_.q, b_.f32());
    task.k = at(1, step_.k, b_.f32());
    task.v = at(2, step_.v, b_.f32());
    for (size_t i = 0; i < step_.masks.size(); ++i) {
      const AttentionMask& mask = step_.masks[i];
      const bool additive = mask.kind == AttentionMask::Kind::additive;
      task.masks.push_back(
          at(3 + i, mask.access, additive ? b_.f32() : b_.i8()));
    }
    task.out = at(operands_.size() - 1, step_.out, b_.f32());
    task.first = ir.CreateMul(block, b_.i64(shape_.block));
    task.count = b_.i64(shape_.block);
    if (step_.queries % shape_.block != 0)
      task.count =
          b_.min(b_.sub(b_.i64(step_.queries), task.first), task.count);
    task.scratch = scratch;
    return task;
  }

  void emit_task(const AttentionTask& task) {
    if (shape_.few) return emit_few_queries(context_, task);
    emit_queries(context_, task);
    if (shape_.key_blocks > 1) return by_key_blocks(task);
    Value* end = keys_end(task);
    emit_scores(context_, task, b_.i64(0), end, AttentionSums::direct);
    emit_exponentials(context_, task, end, AttentionSums::direct);
    emit_values(context_, task, b_.i64(0), end, AttentionSums::direct);
  }

  // Keys that some query of the block sees are [0, this).
  Value* keys_end(const AttentionTask& task) {
    Value* keys = b_.i64(step_.keys);
    if (!step_.causal) return keys;
    return b_.min(keys, b_.add(task.first, b_.i64(shape_.block)));
  }

  // Softmax in one pass: sums so far shrink whenever a key block raises the
  // maximum.
  void by_key_blocks(const AttentionTask& task) {
    emit_start(context_, task);
    Value* keys = keys_end(task);
    b_.loop(b_.i64(0), b_.i64(shape_.key_blocks), b_.i64(1), [&](Value* block) {
      Value* start = block_start(block);
      Value* end = b_.min(block_start(b_.add(block, b_.i64(1))), keys);
      if (!step_.causal) return add_keys(task, start, end);
      b_.if_then(b_.lt(start, end), [&] { add_keys(task, start, end); });
    });
    emit_output(context_, task);
  }

  Value* block_start(Value* block) {
    return b_.ir().CreateUDiv(b_.ir().CreateMul(block, b_.i64(step_.keys)),
                              b_.i64(shape_.key_blocks));
  }

  void add_keys(const AttentionTask& task, Value* start, Value* end) {
    constexpr AttentionSums how = AttentionSums::accumulated;
    Value* count = b_.sub(end, start);
    emit_scores(context_, task, start, end, how);
    emit_exponentials(context_, task, count, how);
    emit_values(context_, task, start, count, how);
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
