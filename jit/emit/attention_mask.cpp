// Attention: masks of a tile of scores.
#include <algorithm>
#include <limits>

#include "jit/emit/attention_parts.h"

namespace fxjit::jit {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

using program::AttentionMask;

bool is_added(const AttentionMask& mask) {
  return mask.kind == AttentionMask::Kind::additive;
}

DType mask_dtype(const AttentionMask& mask) {
  return is_added(mask) ? DType::f32 : DType::boolean;
}

// A mask's elements, in register form, as numbers: what is added, or 1 for
// scores that give way to the mask's value.
Value* mask_operand(VectorBuilder& b, const AttentionMask& mask,
                    Value* loaded) {
  if (is_added(mask)) return loaded;
  llvm::Type* type = b.with_shape_of(loaded, b.f32());
  const bool is_boolean = mask.kind == AttentionMask::Kind::boolean;
  Value* hidden = b.number(type, is_boolean ? kMinusInfinity : 1);
  Value* seen = b.number(type, 0);
  return mask.kind == AttentionMask::Kind::fill
             ? b.select(loaded, hidden, seen)
             : b.select(loaded, seen, hidden);
}

Value* masked_score(VectorBuilder& b, const AttentionMask& mask, Value* score,
                    Value* operand) {
  Value* value = b.splat_f32(double(mask.value));
  if (mask.kind == AttentionMask::Kind::boolean) return b.add(score, operand);
  if (!is_added(mask))
    return b.select(b.eq(operand, b.splat_f32(0)), score, value);
  return mask.value == 1 ? b.add(score, operand) : b.fma(operand, value, score);
}

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

  DType dtype() const { return mask_dtype(mask_); }
  Value* operand(Value* loaded) { return mask_operand(b_, mask_, loaded); }

  void apply_to(int64_t r, int v, Value* operand) {
    Value*& score = scores_[size_t(r * context_.vectors() + v)];
    score = masked_score(b_, mask_, score, operand);
  }

  VectorBuilder& b_;
  const AttentionContext& context_;
  const AttentionMask& mask_;
  Value* elements_;
  Value* first_;
  Values& scores_;
};

}  // namespace

Value* emit_masked_keys(const AttentionContext& context,
                        const AttentionMask& mask, Value* elements,
                        Value* query, Value* key, Value* score) {
  VectorBuilder& b = context.b;
  auto& ir = b.ir();
  const DType dtype = mask_dtype(mask);
  Value* place = b.add(ir.CreateMul(query, b.i64(mask.access.row)),
                       ir.CreateMul(key, b.i64(mask.key_stride)));
  Value* from = b.offset(elements, b.memory_type(dtype), place);
  Value* loaded = nullptr;
  if (mask.key_stride == 0) {
    loaded = b.splat(mask_operand(b, mask, b.load_scalar(dtype, from)));
    return masked_score(b, mask, score, loaded);
  }
  if (mask.key_stride == 1)
    loaded = b.load(dtype, from);
  else
    loaded =
        b.gather(dtype, from,
                 ir.CreateMul(b.iota(b.i64()), b.splat(b.i64(mask.key_stride))),
                 nullptr);
  return masked_score(b, mask, score, mask_operand(b, mask, loaded));
}

void emit_masks(const AttentionContext& context, const AttentionTask& task,
                Value* key, int64_t keys, Values& scores) {
  for (size_t i = 0; i < task.masks.size(); ++i)
    MaskedTile(context, context.step.masks[i], task.masks[i], task.first,
               scores)
        .apply(key, keys);
}

}  // namespace fxjit::jit
