// Attention: masks of a tile of scores.
#include <algorithm>
#include <limits>

#include "jit/emit/attention_parts.h"

namespace fxjit::jit {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

using program::AttentionMask;

class MaskedTile {
 public:
  MaskedTile(const AttentionContext& context, const AttentionMask& mask,
             Value* elements, Value* first, Values& scores)
      : b_(context.b),
        context_(context),
        mask_(mask),
        elements_(elements),
        first_(first),
        scores_(scores) {}

  void apply(Value* key, int64_t keys) {
    Value* from = b_.offset(elements_, b_.memory_type(dtype()),
                            b_.ir().CreateMul(key, b_.i64(mask_.key_stride)));
    for (int64_t r = 0; r < keys; ++r) {
      if (mask_.access.row == 0)
        splat_row(r, from);
      else if (mask_.key_stride != 1)
        gather_row(r, from);
      else if (r % kColumns == 0)
        transpose_rows(r, std::min(keys - r, kColumns), from);
    }
  }

 private:
  Value* element(Value* from, int64_t r) {
    return b_.offset(from, b_.memory_type(dtype()), r * mask_.key_stride);
  }

  void splat_row(int64_t r, Value* from) {
    Value* loaded = operand(b_.load_scalar(dtype(), element(from, r)));
    for (int v = 0; v < context_.vectors(); ++v)
      apply_to(r, v, b_.splat(loaded));
  }

  void gather_row(int64_t r, Value* from) {
    const int64_t queries = context_.step.queries;
    for (int v = 0; v < context_.vectors(); ++v) {
      Value* query = b_.add(b_.splat(first_of(v)), b_.iota(b_.i64()));
      if (queries % context_.shape.block != 0)
        query = b_.min(query, b_.splat(b_.i64(queries - 1)));
      Value* indices =
          b_.ir().CreateMul(query, b_.splat(b_.i64(mask_.access.row)));
      apply_to(r, v,
               operand(b_.gather(dtype(), element(from, r), indices, nullptr)));
    }
  }

  // Rows [r, r + count) of the tile, from columns of the mask.
  void transpose_rows(int64_t r, int64_t count, Value* from) {
    Value* mask =
        count < kColumns ? b_.tail_mask(b_.i64(count), kColumns) : nullptr;
    from = element(from, r);
    for (int v = 0; v < context_.vectors(); ++v) {
      const Values columns = transpose_columns(b_, [&](int query) {
        Value* at = context_.query_row(from, b_.memory_type(dtype()),
                                       first_of(v), query, mask_.access.row);
        return operand(mask ? b_.load(dtype(), at, mask)
                            : b_.load(dtype(), at, kColumns));
      });
      for (int64_t i = 0; i < count; ++i)
        apply_to(r + i, v, columns[size_t(i)]);
    }
  }

  // Query in lane 0 of vector `v`.
  Value* first_of(int v) {
    return b_.add(first_, b_.i64(int64_t{v} * b_.lanes()));
  }

  bool is_added() const { return mask_.kind == AttentionMask::Kind::additive; }

  DType dtype() const { return is_added() ? DType::f32 : DType::boolean; }

  // A mask's elements, in register form, as numbers: what is added, or 1 for
  // scores that give way to the mask's value.
  Value* operand(Value* loaded) {
    if (is_added()) return loaded;
    llvm::Type* type = b_.with_shape_of(loaded, b_.f32());
    const bool where_true = mask_.kind == AttentionMask::Kind::fill;
    Value* hidden = b_.number(type, is_hidden_added() ? kMinusInfinity : 1);
    Value* seen = b_.number(type, 0);
    return where_true ? b_.select(loaded, hidden, seen)
                      : b_.select(loaded, seen, hidden);
  }

  bool is_hidden_added() const {
    return mask_.kind == AttentionMask::Kind::boolean;
  }

  void apply_to(int64_t r, int v, Value* operand) {
    Value*& score = scores_[size_t(r * context_.vectors() + v)];
    Value* value = b_.splat_f32(double(mask_.value));
    if (is_hidden_added())
      score = b_.add(score, operand);
    else if (!is_added())
      score = b_.select(b_.eq(operand, b_.splat_f32(0)), score, value);
    else if (mask_.value == 1)
      score = b_.add(score, operand);
    else
      score = b_.fma(operand, value, score);
  }

  VectorBuilder& b_;
  const AttentionContext& context_;
  const AttentionMask& mask_;
  Value* elements_;
  Value* first_;
  Values& scores_;
};

}  // namespace

void emit_masks(const AttentionContext& context, const AttentionTask& task,
                Value* key, int64_t keys, Values& scores) {
  for (size_t i = 0; i < task.masks.size(); ++i)
    MaskedTile(context, context.step.masks[i], task.masks[i], task.first,
               scores)
        .apply(key, keys);
}

}  // namespace fxjit::jit
