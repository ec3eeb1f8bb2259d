#include <cmath>
#include <optional>

#include "src/passes/internal_ops.h"
#include "src/passes/lower.h"

namespace fxjit::passes {
namespace {

bool mask_fits(const Value& mask) {
  if (mask.is_none()) return true;
  const Tensor t = val_of(mask);
  return (t.dtype() == DType::f32 || t.dtype() == DType::boolean) &&
         t.dim() <= 4;
}

// [batch, heads, rows, depth] with depth contiguous.
Value four_dims(GraphBuilder& b, Value x) {
  while (val_of(x).dim() < 4) x = call(b, "unsqueeze", {x, 0});
  const Tensor t = val_of(x);
  if (t.size(-1) > 1 && t.stride(-1) != 1)
    return b.call(materialize_op(), {x});
  return x;
}

bool supported(const ValueList& args) {
  const Tensor query = val_of(args[0]);
  if (query.dim() < 2 || query.dim() > 4 || !mask_fits(args[3])) return false;
  for (int i : {0, 1, 2}) {
    const Tensor t = val_of(args[i]);
    if (t.dtype() != DType::f32 || t.dim() != query.dim() || t.numel() == 0)
      return false;
    for (int d = 0; d < query.dim() - 2; ++d)
      if (t.sizes()[d] != query.sizes()[d]) return false;
  }
  return true;
}

// The result lies in memory as [batch, queries, heads, depth], as torch's own
// fused kernel leaves it: joining the heads afterwards is then a view.
Value infer_attention(const ops::OpCall& call) {
  const Tensor q = call.tensor(0);
  const int64_t heads = q.size(1), rows = q.size(2);
  const int64_t depth = call.tensor(2).size(3);
  return Tensor::meta({q.size(0), heads, rows, depth}, q.dtype(),
                      {rows * heads * depth, depth, heads * depth, 1});
}

Value infer_written(const ops::OpCall& call) {
  const Tensor q = call.tensor(0);
  Dims sizes = q.sizes();
  sizes[q.dim() - 1] = call.tensor(2).size(-1);
  return Tensor::meta(sizes, q.dtype());
}

constexpr ops::OpRow kRows[] = {
    {.name = "fxjit.attention",
     .schema = "query, key, value, mask, is_causal, scale, zero_rows",
     .names = "",
     .lowering = ops::Lowering::attention,
     .infer = infer_attention},
    {.name = "fxjit.written_attention",
     .schema = "query, key, value, mask, scale",
     .names = "",
     .lowering = ops::Lowering::attention,
     .infer = infer_written},
};

const ops::Op& registered(const char* name) {
  static const bool done = (ops::register_ops(kRows), true);
  static_cast<void>(done);
  return ops::get_op(name);
}

// What tells one kind of attention from the other.
struct Kind {
  Value causal, scale;
  bool zero_rows;
};

std::optional<Kind> kind_of(const ops::Op& op, const ValueList& args) {
  const auto arg = [&](const char* name) -> const Value& {
    return args[static_cast<size_t>(op.index_of(name))];
  };
  if (&op == &written_attention_op()) return Kind{false, arg("scale"), false};
  if (arg("dropout_p").as_double() != 0 || arg("enable_gqa").as_bool())
    return std::nullopt;
  return Kind{arg("is_causal"), arg("scale"), true};
}

}  // namespace

const ops::Op& attention_op() {
  static const ops::Op& op = registered("fxjit.attention");
  return op;
}

const ops::Op& written_attention_op() {
  static const ops::Op& op = registered("fxjit.written_attention");
  return op;
}

Value lower_attention(GraphBuilder& b, const ops::Op& op,
                      const ValueList& args) {
  const Tensor query = val_of(args[0]);
  const std::optional<Kind> kind = kind_of(op, args);
  if (!kind || !supported(args)) return {};
  const Value q = four_dims(b, args[0]);
  const Value k = four_dims(b, args[1]);
  const Value v = four_dims(b, args[2]);
  Value mask = args[3];
  if (!mask.is_none()) {
    const Tensor t = val_of(q);
    const Dims scores{t.size(0), t.size(1), t.size(2), val_of(k).size(2)};
    mask = call(b, "expand", {mask, scores});
  }
  const double scale =
      kind->scale.is_none()
          ? 1 / std::sqrt(static_cast<double>(query.size(-1)))
          : kind->scale.as_double();
  Value result = b.call(attention_op(), {q, k, v, mask, kind->causal, scale,
                                         kind->zero_rows});
  for (int d = query.dim(); d < 4; ++d)
    result = call(b, "squeeze", {result, 0});
  return result;
}

}  // namespace fxjit::passes
