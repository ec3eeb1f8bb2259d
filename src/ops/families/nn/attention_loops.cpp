// The kernels that torch's exporter writes attention as, with the second result
// that a backward pass would read, and the softmax that they take.
#include <cmath>

#include "fxjit/functions_structured.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

struct Attention {
  Value query, key, value, mask, dropout, causal, scale, grouped = false;
};

Value attention(const Attention& a) {
  return call_row("scaled_dot_product_attention",
                  {a.query, a.key, a.value, a.mask, a.dropout, a.causal,
                   a.scale, a.grouped});
}

// The products that softmax is taken of, in the type of the calculation.
Value scores_of(const Attention& a) {
  const Tensor query = meta_of(a.query);
  const double scale = a.scale.is_none()
                           ? 1 / std::sqrt(static_cast<double>(query.size(-1)))
                           : a.scale.as_double();
  const Value keys = widened(a.key, query.dtype());
  Value scores = fxjit::matmul(widened(a.query, query.dtype()),
                               fxjit::transpose(keys, -2, -1)) *
                 scale;
  constexpr double kLowest = -std::numeric_limits<double>::infinity();
  const Tensor shape = meta_of(scores);
  if (a.causal.as_bool()) {
    const Value rows = fxjit::unsqueeze(fxjit::arange(shape.size(-2)), 1);
    const Value earlier = fxjit::ge(rows, fxjit::arange(shape.size(-1)));
    scores = fxjit::where(earlier, scores, kLowest);
  }
  if (a.mask.is_none()) return scores;
  if (meta_of(a.mask).dtype() == DType::boolean)
    return fxjit::where(a.mask, scores, kLowest);
  return scores + cast_to(a.mask, shape.dtype());
}

// (query, key, value, dropout_p, is_causal, attn_mask, scale): the second
// result is [N, heads, queries], heads innermost.
Value flash_attention(const OpCall& call) {
  const Attention a{.query = call[0],
                    .key = call[1],
                    .value = call[2],
                    .mask = call[5],
                    .dropout = call[3],
                    .causal = call[4],
                    .scale = call[6]};
  const Value sums = fxjit::logsumexp(scores_of(a), -1);
  const Value ordered = method(fxjit::transpose(sums, 1, 2), "contiguous");
  return Value::tuple({attention(a), fxjit::transpose(ordered, 1, 2)});
}

// (query, key, value, attn_mask, dropout_p, is_causal, scale): the second
// result is what the values are weighted with.
Value attention_math(const OpCall& call) {
  const Attention a{.query = call[0],
                    .key = call[1],
                    .value = call[2],
                    .mask = call[3],
                    .dropout = call[4],
                    .causal = call[5],
                    .scale = call[6]};
  const DType dtype = meta_of(a.query).dtype();
  const Value scores = scores_of(a);
  return Value::tuple(
      {attention(a), narrowed(safe_softmax(scores, -1), scores, dtype)});
}

// (input, dim, dtype).
Value softmax_of_masked(const OpCall& call) {
  const DType dtype = dtype_arg(call, 2, meta_of(call[0]).dtype());
  const Value wide = widened(cast_to(call[0], dtype), dtype);
  return narrowed(safe_softmax(wide, call.integer(1)), wide, dtype);
}

constexpr OpRow kAttentionLoopsRows[] = {
    composed_row("_scaled_dot_product_flash_attention_for_cpu",
                 "query, key, value, dropout_p=0.0, is_causal=False, *, "
                 "attn_mask=None, scale=None",
                 "torch._scaled_dot_product_flash_attention_for_cpu",
                 flash_attention)
        .stating({.layout = Layout::first}),
    inlined_row("_scaled_dot_product_attention_math",
                "query, key, value, attn_mask=None, dropout_p=0.0, "
                "is_causal=False, *, scale=None",
                "", attention_math),
    composed_row("_safe_softmax", "input, dim, dtype=None",
                 "torch._safe_softmax", softmax_of_masked)
        .stating({.layout = Layout::plain}),
};

}  // namespace

std::span<const OpRow> attention_kernel_rows() { return kAttentionLoopsRows; }

}  // namespace fxjit::ops
