// Attention in the dims that its steps have loops for.
#include <cmath>
#include <optional>

#include "src/passes/lowering/internal_ops.h"
#include "src/passes/lowering/lower.h"
#include "src/passes/lowering/lowerings.h"

namespace fxjit::passes {
namespace {

// Leading dims that attention steps have loops for.
constexpr int kLeading = 3;

// One attention in whatever dims the model has: [leading.., rows, depth].
struct Problem {
  Value q, k, v;
  std::vector<Value> masks;  // Of the scores' shape.
  ValueList kinds, numbers;
  Value causal, scale;
  bool zero_rows = false;
  int inner = 0;  // Last leading dims, to lie within the rows of the result.
};

// Adjacent leading dims through which every operand steps uniformly become one.
// The dims within the rows of the result stay apart from the others.
class Leading {
 public:
  Leading(const std::vector<Value>& operands, int inner) {
    const Dims sizes = leading_of(operands[0]);
    const int first_inner = sizes.size() - inner;
    for (int d = 0; d < sizes.size(); ++d) {
      const bool within = d >= first_inner;
      if (sizes[d] == 1) continue;
      const bool joins = !groups_.empty() && groups_.back().within == within &&
                         uniform(operands, groups_.back().last, d);
      if (!joins) groups_.push_back({1, 0, within});
      groups_.back().size *= sizes[d];
      groups_.back().last = d;
    }
  }

  int count() const { return static_cast<int>(groups_.size()); }
  int inner() const {
    int count = 0;
    for (const Joined& group : groups_) count += group.within;
    return count;
  }
  // [outer, batch, heads]
  Dims sizes() const {
    Dims sizes(kLeading - count(), 1);
    for (const Joined& group : groups_) sizes.push_back(group.size);
    return sizes;
  }

 private:
  struct Joined {
    Size size;
    int last;
    bool within;
  };

  static bool uniform(const std::vector<Value>& operands, int a, int b) {
    for (const Value& operand : operands) {
      const Tensor t = val_of(operand);
      if (t.strides()[a] != t.strides()[b] * t.sizes()[b]) return false;
    }
    return true;
  }

  std::vector<Joined> groups_;
};

Value reshaped(GraphBuilder& b, const Value& x, Dims leading) {
  const Tensor t = val_of(x);
  leading.push_back(t.size(-2));
  leading.push_back(t.size(-1));
  return call(b, "reshape", {x, leading});
}

// Rows of one query each that share keys and values, as one token's groups of
// heads do, are rows of one block of queries.
bool shares_keys(const Problem& p, const Dims& leading) {
  if (val_of(p.q).size(-2) != 1 || p.causal.as_bool() || leading[2] == 1)
    return false;
  for (const Value& x : {p.k, p.v})
    if (val_of(x).strides()[2] != 0) return false;
  return true;
}

Value five_dims(GraphBuilder& b, Problem p, const Leading& leading) {
  const Dims sizes = leading.sizes();
  Size inner = leading.inner();
  p.q = reshaped(b, p.q, sizes);
  p.k = reshaped(b, p.k, sizes);
  p.v = reshaped(b, p.v, sizes);
  for (Value& mask : p.masks) mask = reshaped(b, mask, sizes);
  const bool shared = shares_keys(p, sizes);
  if (shared) {
    inner = 0;
    p.q = call(b, "transpose", {p.q, 2, 3});
    for (Value& mask : p.masks) mask = call(b, "transpose", {mask, 2, 3});
    p.k = call(b, "narrow", {p.k, 2, 0, 1});
    p.v = call(b, "narrow", {p.v, 2, 0, 1});
  }
  Value result =
      b.call(attention_op(),
             {p.q, p.k, p.v, Value::list({p.masks.begin(), p.masks.end()}),
              Value::list(p.kinds), Value::list(p.numbers), p.causal, p.scale,
              p.zero_rows, inner});
  return shared ? call(b, "transpose", {result, 2, 3}) : result;
}

Value lowered(GraphBuilder& b, Problem p) {
  const Dims leading = leading_of(p.q);
  std::vector<Value*> operands{&p.q, &p.k, &p.v};
  for (Value& mask : p.masks) operands.push_back(&mask);
  for (Value* x : {&p.q, &p.k, &p.v}) *x = with_last_dim_dense(b, *x);
  const auto joined = [&] {
    std::vector<Value> values;
    for (const Value* x : operands) values.push_back(*x);
    return Leading(values, p.inner);
  };
  // Copies step uniformly everywhere.
  if (joined().count() > kLeading)
    for (Value* x : operands)
      if (!val_of(*x).is_contiguous()) *x = b.call(materialize_op(), {*x});
  const Value made = five_dims(b, p, joined());
  return reshaped(b, made, leading);
}

// scaled_dot_product_attention

struct Call {
  const ops::Op& op;
  const ValueList& args;
  const Value& operator[](const char* name) const {
    return args[static_cast<size_t>(op.index_of(name))];
  }
};

bool supported(const Call& call) {
  const Tensor q = val_of(call["query"]);
  const DType type = q.dtype();
  if (call["dropout_p"].as_double() != 0 || q.numel() == 0 ||
      (type != DType::f32 && type != DType::f16 && type != DType::bf16))
    return false;
  const int most = kMaxRank - 1;
  for (const char* name : {"query", "key", "value"}) {
    const Tensor t = val_of(call[name]);
    if (t.numel() == 0 || t.dim() < 2 || t.dim() > most) return false;
  }
  const Value& mask = call["attn_mask"];
  if (mask.is_none()) return true;
  const DType kind = val_of(mask).dtype();
  return (kind == DType::f32 || kind == DType::boolean || kind == type) &&
         val_of(mask).dim() <= q.dim();
}

Value as_f32(GraphBuilder& b, const Value& x) {
  const DType type = val_of(x).dtype();
  if (type == DType::f32 || type == DType::boolean) return x;
  return call(b, "to", {x, DType::f32});
}

// [.., heads, rows, depth] as [.., heads / groups, groups, rows, depth].
Value split_heads(GraphBuilder& b, const Value& x, Size groups) {
  const Tensor t = val_of(x);
  Dims sizes = t.sizes();
  const int heads = t.dim() - 3;
  sizes[heads] /= groups;
  sizes.insert(heads + 1, groups);
  return call(b, "reshape", {x, sizes});
}

// Keys and values of fewer heads than queries have.
void group_heads(GraphBuilder& b, Problem& p, Dims& leading) {
  const int at = leading.size() - 1;
  const Size groups = leading[at] / val_of(p.k).size(-3);
  leading[at] /= groups;
  leading.push_back(groups);
  p.q = split_heads(b, p.q, groups);
  p.k = call(b, "unsqueeze", {p.k, -3});
  p.v = call(b, "unsqueeze", {p.v, -3});
  for (Value& mask : p.masks) {
    if (val_of(mask).dim() < 3) continue;
    mask = val_of(mask).size(-3) == 1 ? call(b, "unsqueeze", {mask, -3})
                                      : split_heads(b, mask, groups);
  }
  p.inner = 2;
}

bool grouped(const Call& c, const Problem& p) {
  if (!c["enable_gqa"].as_bool() || val_of(p.q).dim() < 3) return false;
  return val_of(p.k).dim() >= 3 && val_of(p.q).size(-3) != val_of(p.k).size(-3);
}

// Leading dims of query, key and value, broadcast; none where they do not.
std::optional<Dims> common_leading(const Problem& p, bool by_group) {
  Dims leading = leading_of(p.q);
  for (const Value& x : {p.k, p.v}) {
    Dims other = leading_of(x);
    if (by_group) {
      if (other.empty() || leading.back() % other.back() != 0)
        return std::nullopt;
      other[other.size() - 1] = leading.back();
    }
    leading = broadcast_shapes(leading, other);
  }
  return leading;
}

}  // namespace

Value lower_attention(GraphBuilder& b, const ops::Op& op,
                      const ValueList& args) {
  const Call c{op, args};
  if (!supported(c)) return {};
  Problem p{as_f32(b, c["query"]),
            as_f32(b, c["key"]),
            as_f32(b, c["value"]),
            {},
            {},
            {},
            c["is_causal"],
            c["scale"],
            true,
            1};
  if (const Value& mask = c["attn_mask"]; !mask.is_none()) {
    const bool hides = val_of(mask).dtype() == DType::boolean;
    p.masks.push_back(as_f32(b, mask));
    p.kinds.push_back(
        static_cast<int64_t>(hides ? MaskKind::hide : MaskKind::add));
    p.numbers.push_back(1.0);
  }
  if (p.scale.is_none())
    p.scale = 1 / std::sqrt(static_cast<double>(val_of(p.q).size(-1)));
  const bool by_group = grouped(c, p);
  std::optional<Dims> leading = common_leading(p, by_group);
  if (!leading || (by_group && val_of(p.k).size(-3) != val_of(p.v).size(-3)))
    return {};
  Dims wanted = *leading;
  if (by_group) group_heads(b, p, *leading);
  p.inner = std::min(p.inner, leading->size());
  for (Value* x : {&p.q, &p.k, &p.v}) *x = expand_leading(b, *x, *leading);
  Dims scores = *leading;
  scores.push_back(val_of(p.q).size(-2));
  scores.push_back(val_of(p.k).size(-2));
  for (Value& mask : p.masks) mask = call(b, "expand", {mask, scores});
  const Value result = reshaped(b, lowered(b, p), wanted);
  const DType type = val_of(c["query"]).dtype();
  return type == DType::f32 ? result : call(b, "to", {result, type});
}

Value lower_written_attention(GraphBuilder& b, const ops::Op& op,
                              const ValueList& args) {
  const Call c{op, args};
  Problem p{c["query"], c["key"], c["value"], {}, {}, {}, false, c["scale"]};
  const ValueList& masks = c["masks"].as_sequence();
  p.masks.assign(masks.begin(), masks.end());
  p.kinds = c["kinds"].as_sequence();
  p.numbers = c["numbers"].as_sequence();
  p.inner = static_cast<int>(c["inner"].as_int());
  p.zero_rows = c["zero_rows"].as_bool();
  return lowered(b, p);
}

}  // namespace fxjit::passes
