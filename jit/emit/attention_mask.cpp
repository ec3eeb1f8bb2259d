// Attention: masks, as vectors to add to the scores of a tile.
#include <algorithm>
#include <limits>

#include "jit/emit/attention_parts.h"

namespace fxjit::jit {
namespace {

using program::AttentionStep;

class Biases {
 public:
  Biases(const AttentionContext& context, const AttentionTask& task)
      : b_(context.b),
        context_(context),
        step_(context.step),
        mask_(task.mask),
        first_(task.first) {}

  Values of_tile(Value* key, int64_t keys) {
    Value* from =
        b_.offset(mask_, b_.memory_type(dtype()),
                  b_.ir().CreateMul(key, b_.i64(step_.mask_key_stride)));
    Values biases(size_t(keys * context_.vectors()));
    for (int64_t r = 0; r < keys; ++r) {
      if (!program::mask_by_query(step_))
        fill_row(biases, r, key_bias(from, r));
      else if (step_.mask_key_stride != 1)
        gather_row(biases, r, from);
      else if (r % kColumns == 0)
        transpose_rows(biases, r, std::min(keys - r, kColumns), from);
    }
    return biases;
  }

 private:
  Value* element(Value* from, int64_t r) {
    return b_.offset(from, b_.memory_type(dtype()), r * step_.mask_key_stride);
  }

  Value* key_bias(Value* from, int64_t r) {
    return b_.splat(to_bias(b_.load_scalar(dtype(), element(from, r))));
  }

  void fill_row(Values& biases, int64_t r, Value* bias) {
    for (int v = 0; v < context_.vectors(); ++v)
      biases[size_t(r * context_.vectors() + v)] = bias;
  }

  void gather_row(Values& biases, int64_t r, Value* from) {
    for (int v = 0; v < context_.vectors(); ++v) {
      Value* query = b_.add(b_.splat(first_of(v)), b_.iota(b_.i64()));
      if (step_.queries % context_.shape.block != 0)
        query = b_.min(query, b_.splat(b_.i64(step_.queries - 1)));
      Value* indices =
          b_.ir().CreateMul(query, b_.splat(b_.i64(step_.mask_access.row)));
      biases[size_t(r * context_.vectors() + v)] =
          to_bias(b_.gather(dtype(), element(from, r), indices, nullptr));
    }
  }

  // Rows [r, r + count) of the tile, from columns of the mask.
  void transpose_rows(Values& biases, int64_t r, int64_t count, Value* from) {
    Value* mask =
        count < kColumns ? b_.tail_mask(b_.i64(count), kColumns) : nullptr;
    from = element(from, r);
    for (int v = 0; v < context_.vectors(); ++v) {
      const Values columns = transpose_columns(b_, [&](int query) {
        Value* at =
            context_.query_row(from, b_.memory_type(dtype()), first_of(v),
                               query, step_.mask_access.row);
        return to_bias(mask ? b_.load(dtype(), at, mask)
                            : b_.load(dtype(), at, kColumns));
      });
      for (int64_t i = 0; i < count; ++i)
        biases[size_t((r + i) * context_.vectors() + v)] = columns[size_t(i)];
    }
  }

  // Query in lane 0 of vector `v`.
  Value* first_of(int v) {
    return b_.add(first_, b_.i64(int64_t{v} * b_.lanes()));
  }

  DType dtype() const {
    return step_.mask == AttentionStep::Mask::boolean ? DType::boolean
                                                      : DType::f32;
  }

  // A mask's elements, in register form, as numbers to add.
  Value* to_bias(Value* loaded) {
    if (step_.mask == AttentionStep::Mask::additive) return loaded;
    llvm::Type* type = b_.with_shape_of(loaded, b_.f32());
    return b_.select(loaded, b_.number(type, 0),
                     b_.number(type, -std::numeric_limits<double>::infinity()));
  }

  VectorBuilder& b_;
  const AttentionContext& context_;
  const AttentionStep& step_;
  Value* mask_;
  Value* first_;
};

}  // namespace

Values emit_biases(const AttentionContext& context, const AttentionTask& task,
                   Value* key, int64_t keys) {
  if (context.step.mask == AttentionStep::Mask::none) return {};
  return Biases(context, task).of_tile(key, keys);
}

}  // namespace fxjit::jit
