// Attention: masks of a tile of scores.
#include <algorithm>
#include <cstddef>

#include "jit/emit/attention/parts.h"

namespace fxjit::jit {
namespace {

using program::AttentionCall;
using program::AttentionMaskCall;
using program::AttentionMaskForm;
using Keys = AttentionMaskForm::Keys;

bool is_added(const AttentionMaskForm& mask) {
  return mask.kind == passes::MaskKind::add;
}

DType mask_dtype(const AttentionMaskForm& mask) {
  return is_added(mask) ? DType::f32 : DType::boolean;
}

// The elements of a mask as numbers in the dtype in which they are computed:
// what is added to the score, or 1 where the mask's value replaces the score.
Value* mask_operand(VectorBuilder& b, const AttentionMaskForm& mask,
                    Value* loaded) {
  if (is_added(mask)) return loaded;
  llvm::Type* type = b.with_shape_of(loaded, b.f32());
  const bool is_boolean = mask.kind == passes::MaskKind::hide;
  Value* hidden = b.number(type, is_boolean ? kMinusInfinity : 1);
  Value* seen = b.number(type, 0);
  return mask.kind == passes::MaskKind::fill ? b.select(loaded, hidden, seen)
                                             : b.select(loaded, seen, hidden);
}

Value* masked_score(VectorBuilder& b, const AttentionMaskForm& mask,
                    Value* score, Value* operand) {
  Value* value = b.splat_f32(double(mask.value));
  if (mask.kind == passes::MaskKind::hide) return b.add(score, operand);
  if (!is_added(mask))
    return b.select(b.eq(operand, b.splat_f32(0)), score, value);
  return mask.value == 1 ? b.add(score, operand) : b.fma(operand, value, score);
}

// Where a mask lies.
struct MaskPlace {
  MaskPlace(const AttentionContext& context, size_t number) {
    VectorBuilder& b = context.b;
    Value* masks = context.pointer(offsetof(AttentionCall, masks));
    const auto field = [&](llvm::Type* type, size_t offset) {
      return load_constant(b, type, masks,
                           number * sizeof(AttentionMaskCall) + offset);
    };
    first = field(b.ptr(), offsetof(AttentionMaskCall, first));
    row = field(b.i64(), offsetof(AttentionMaskCall, row));
    key = field(b.i64(), offsetof(AttentionMaskCall, key));
    const Keys keys = context.form.masks[number].keys;
    if (keys != Keys::apart) key = b.i64(keys == Keys::together ? 1 : 0);
  }
  Value *first, *row, *key;
};

class MaskedTile {
 public:
  MaskedTile(const AttentionContext& context, size_t number, Values& scores)
      : b_(context.b),
        context_(context),
        mask_(context.form.masks[number]),
        place_(context, number),
        first_(context.number(offsetof(AttentionCall, first))),
        scores_(scores) {}

  void apply(Value* key, int64_t keys) {
    Value* from = b_.offset(place_.first, type(), b_.mul(key, place_.key));
    for (int64_t r = 0; r < keys; ++r) {
      if (!mask_.by_query)
        splat_row(r, from);
      else if (mask_.keys != Keys::together)
        gather_row(r, from);
      else if (r % kColumns == 0)
        transpose_rows(r, std::min(keys - r, kColumns), from);
    }
  }

 private:
  Value* element(Value* from, int64_t r) {
    return b_.offset(from, type(), b_.mul(place_.key, b_.i64(r)));
  }

  void splat_row(int64_t r, Value* from) {
    Value* loaded = operand(b_.load_scalar(dtype(), element(from, r)));
    for (int v = 0; v < context_.vectors(); ++v)
      apply_to(r, v, b_.splat(loaded));
  }

  void gather_row(int64_t r, Value* from) {
    for (int v = 0; v < context_.vectors(); ++v) {
      Value* query = b_.add(b_.splat(first_of(v)), b_.iota(b_.i64()));
      query = b_.min(query, b_.splat(context_.last));
      Value* indices = b_.mul(query, b_.splat(place_.row));
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
        Value* row = b_.mul(context_.query(first_of(v), query), place_.row);
        Value* at = b_.offset(from, type(), row);
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
  llvm::Type* type() { return b_.memory_type(dtype()); }
  Value* operand(Value* loaded) { return mask_operand(b_, mask_, loaded); }

  void apply_to(int64_t r, int v, Value* operand) {
    Value*& score = scores_[size_t(r * context_.vectors() + v)];
    score = masked_score(b_, mask_, score, operand);
  }

  VectorBuilder& b_;
  const AttentionContext& context_;
  const AttentionMaskForm& mask_;
  const MaskPlace place_;
  Value* first_;
  Values& scores_;
};

// Masks the scores of one query and lanes() keys from `key`.
Value* masked_keys(const AttentionContext& context, size_t number, Value* query,
                   Value* key, Value* score) {
  VectorBuilder& b = context.b;
  const AttentionMaskForm& mask = context.form.masks[number];
  const MaskPlace place(context, number);
  const DType dtype = mask_dtype(mask);
  Value* at = b.mul(key, place.key);
  if (mask.by_query) at = b.add(at, b.mul(query, place.row));
  Value* from = b.offset(place.first, b.memory_type(dtype), at);
  Value* loaded = nullptr;
  switch (mask.keys) {
    case Keys::one:
      loaded = b.splat(mask_operand(b, mask, b.load_scalar(dtype, from)));
      return masked_score(b, mask, score, loaded);
    case Keys::together:
      loaded = b.load(dtype, from);
      break;
    case Keys::apart:
      loaded = b.gather(dtype, from, b.mul(b.splat(place.key), b.iota(b.i64())),
                        nullptr);
      break;
  }
  return masked_score(b, mask, score, mask_operand(b, mask, loaded));
}

}  // namespace

Value* emit_masked_keys(const AttentionContext& context, Value* query,
                        Value* key, Value* score) {
  for (size_t i = 0; i < context.form.masks.size(); ++i)
    score = masked_keys(context, i, query, key, score);
  return score;
}

void emit_masks(const AttentionContext& context, Value* key, int64_t keys,
                Values& scores) {
  for (size_t i = 0; i < context.form.masks.size(); ++i)
    MaskedTile(context, i, scores).apply(key, keys);
}

}  // namespace fxjit::jit
