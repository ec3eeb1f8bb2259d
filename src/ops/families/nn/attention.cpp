// scaled_dot_product_attention: one op for the compiler, composed of two
// products and a softmax elsewhere. A query whose keys are all masked gives
// zeros, as in PyTorch.
#include <cmath>
#include <limits>

#include "fxjit/functions_structured.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/numbers.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

enum AttentionParameter : size_t {
  kQuery,
  kKey,
  kValue,
  kMask,
  kDropout,
  kCausal,
  kScale,
  kGroupedHeads,
};

void check_mask(const Tensor& mask, const Tensor& query) {
  if (mask.dtype() == DType::boolean || mask.dtype() == query.dtype() ||
      mask.dtype() == DType::f32)
    return;
  runtime_error(
      "Expected attn_mask dtype to be bool or float or to match query dtype, "
      "but got attn_mask.dtype: ",
      cpp_type_name(mask.dtype()),
      " and  query.dtype: ", cpp_type_name(query.dtype()), " instead.");
}

void check_shapes(const Tensor& q, const Tensor& k, const Tensor& v) {
  if (q.dim() < 2 || k.dim() < 2 || v.dim() < 2)
    runtime_error(
        "scaled_dot_product_attention: expected query, key and value of at "
        "least 2 dimensions, got ",
        q.sizes(), ", ", k.sizes(), ", ", v.sizes());
  if (q.dtype() != k.dtype() || q.dtype() != v.dtype())
    runtime_error(
        "Expected query, key, and value to have the same dtype, but got "
        "query.dtype: ",
        cpp_type_name(q.dtype()), " key.dtype: ", cpp_type_name(k.dtype()),
        " and value.dtype: ", cpp_type_name(v.dtype()), " instead.");
  if (!is_floating(q.dtype()))
    throw NotImplementedError(
        "scaled_dot_product_attention: expected a floating point type, got " +
        std::string(dtype_name(q.dtype())));
  if (q.size(-1) != k.size(-1) || k.size(-2) != v.size(-2))
    runtime_error("scaled_dot_product_attention: expected key of depth ",
                  q.size(-1), " and value with as many rows as key, got ",
                  q.sizes(), ", ", k.sizes(), ", ", v.sizes());
}

// Heads of key and value, each repeated for the queries that share it.
Value shared_heads(const Value& value, Size heads) {
  const Tensor meta = meta_of(value);
  if (meta.dim() < 3 || meta.size(-3) == heads) return value;
  if (meta.size(-3) == 0 || heads % meta.size(-3) != 0)
    runtime_error(
        "Number of heads in key and value must divide the number of heads in "
        "query");
  return fxjit::repeat_interleave(value, heads / meta.size(-3), -3);
}

// True where a key does not come behind the query. Shapes are inferred without
// its elements.
Value earlier_keys(const Value& scores) {
  const Tensor shape = meta_of(scores);
  const Size queries = shape.size(-2), keys = shape.size(-1);
  if (scores.is_tensor() && scores.as_tensor().is_meta())
    return Tensor::meta({queries, keys}, DType::boolean);
  return fxjit::tril(
      fxjit::full(Value::tuple({queries, keys}), true, DType::boolean));
}

Value masked(Value scores, const OpCall& call, const Tensor& query) {
  const Tensor shape = meta_of(scores);
  if (call.flag(kCausal))
    scores = fxjit::where(earlier_keys(scores), scores, -kInfinity);
  if (!call.has(kMask)) return scores;
  const Tensor mask = meta_of(call[kMask]);
  check_mask(mask, query);
  if (!(broadcast_shapes(mask.sizes(), shape.sizes()) == shape.sizes()))
    runtime_error(
        "scaled_dot_product_attention: expected attn_mask to broadcast to ",
        shape.sizes(), ", got ", mask.sizes());
  if (mask.dtype() == DType::boolean)
    return fxjit::where(call[kMask], scores, -kInfinity);
  return scores + cast_to(call[kMask], shape.dtype());
}

Value decompose_attention(const OpCall& call) {
  const Tensor query = meta_of(call[kQuery]);
  const DType dtype = query.dtype();
  check_shapes(query, meta_of(call[kKey]), meta_of(call[kValue]));
  if (call.number(kDropout) != 0)
    throw NotImplementedError(
        "scaled_dot_product_attention: expected dropout_p=0, got " +
        repr(call[kDropout]));
  const Value q = widened(call[kQuery], dtype);
  Value k = widened(call[kKey], dtype), v = widened(call[kValue], dtype);
  if (call.flag(kGroupedHeads) && query.dim() > 2) {
    k = shared_heads(k, query.size(-3));
    v = shared_heads(v, query.size(-3));
  }
  const double scale = call.has(kScale)
                           ? call.number(kScale)
                           : 1 / std::sqrt(static_cast<double>(query.size(-1)));
  const Value products = fxjit::matmul(q, fxjit::transpose(k, -2, -1));
  const Value scores = masked(products * scale, call, query);
  if (meta_of(scores).size(-1) == 0)
    return narrowed(fxjit::matmul(scores, v), q, dtype);
  return narrowed(fxjit::matmul(safe_softmax(scores, -1), v), q, dtype);
}

// Queries with other strides are no argument of torch's fused function.
Layout layout_of_attention(const OpCall& call) {
  return call.tensor(0).stride(-1) == 1 ? Layout::first : Layout::plain;
}

constexpr OpRow kAttentionRows[] = {
    {.name = "scaled_dot_product_attention",
     .schema = "query, key, value, attn_mask=None, dropout_p=0.0, "
               "is_causal=False, scale=None, enable_gqa=False",
     .names = "torch._C._nn.scaled_dot_product_attention "
              "=F.scaled_dot_product_attention",
     .lowering = Lowering::attention,
     .eager = decompose_attention,
     .decompose = decompose_attention,
     .facts = {.layout_of = layout_of_attention}},
};

}  // namespace

std::span<const OpRow> attention_rows() { return kAttentionRows; }

}  // namespace fxjit::ops
