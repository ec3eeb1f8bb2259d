// Attention and what stands around it in language models.
#include <cmath>
#include <limits>

#include "src/import/onnx/ops/families.h"

namespace fxjit::onnx {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Each head `times` times in a row.
Value repeated_heads(const Call& call, const Value& x, int64_t times) {
  if (times == 1) return x;
  const SizeList s = call.sizes_of(x);
  const Value spread =
      expand(unsqueeze(x, 2), Value::list({s[0], s[1], times, s[2], s[3]}));
  return reshape(spread, Value::list({s[0], s[1] * times, s[2], s[3]}));
}

struct Heads {
  Value q, k, v;
  bool packed = false;  // Three dims: results are packed again.
  int64_t times = 1;    // Query heads for each head of keys.
};

int64_t known_size(const Call& call, const Value& x, int64_t dim) {
  const Value size = call.sizes_of(x)[static_cast<size_t>(dim)];
  if (!size.is_int()) call.fail("the number of heads varies");
  return size.as_int();
}

Heads read_heads(const Call& call) {
  const int rank = call.rank(0);
  for (size_t i = 0; i < 3; ++i)
    if ((rank != 3 && rank != 4) || call.rank(i) != rank)
      call.fail("input " + std::to_string(i) + ": expected " +
                (rank == 3 ? "3" : "4") + " dims, got " +
                std::to_string(call.rank(i)));
  Heads heads{call[0], call[1], call[2], call.rank(0) == 3};
  if (heads.packed) {
    const int64_t queries = call.integer("q_num_heads");
    const int64_t keys = call.integer("kv_num_heads");
    if (queries < 1 || keys < 1) call.fail("q_num_heads, kv_num_heads: 0");
    heads.q = in_heads(call, heads.q, queries);
    heads.k = in_heads(call, heads.k, keys);
    heads.v = in_heads(call, heads.v, keys);
    heads.times = queries / keys;
  } else {
    const int64_t keys = known_size(call, heads.k, 1);
    heads.times = keys == 0 ? 1 : known_size(call, heads.q, 1) / keys;
  }
  if (call.has(4)) heads.k = cat(Value::list({call[4], heads.k}), 2);
  if (call.has(5)) heads.v = cat(Value::list({call[5], heads.v}), 2);
  return heads;
}

// The mask with as many columns as there are keys: those that it lacks are
// masked.
Value whole_mask(const Call& call, const Value& keys) {
  const Value mask = call[3];
  const Value missing = keys - call.size(3, -1);
  if (missing.is_int() && missing.as_int() == 0) return mask;
  const bool truth = call.dtype(3) == DType::boolean;
  return nn::functional::pad(mask, Value::list({0, missing}), "constant",
                             truth ? Value(0) : Value(-kInfinity));
}

// -inf where keys are behind their query.
Value causal_bias(const Call& call, const Heads& heads, DType dtype) {
  const Value queries = call.sizes_of(heads.q)[2];
  const Value keys = call.sizes_of(heads.k)[2];
  const Value past = call.has(4) ? call.size(4, 2) : Value(0);
  const Value rows = unsqueeze(line(queries), 1) + past;
  const Value behind = gt(unsqueeze(line(keys), 0), rows);
  const Value zeros = cast(call, behind, dtype) * 0;
  return masked_fill(zeros, behind, -kInfinity);
}

// What is added to the scores; None for nothing.
Value bias_of(const Call& call, const Heads& heads, DType dtype) {
  Value bias;
  const auto add = [&](const Value& more) {
    bias = bias.is_none() ? more : bias + more;
  };
  const Value keys = call.sizes_of(heads.k)[2];
  if (call.has(3)) {
    const Value mask = whole_mask(call, keys);
    if (call.dtype(3) == DType::boolean) {
      const Value masked = logical_not(mask);
      add(masked_fill(cast(call, masked, dtype) * 0, masked, -kInfinity));
    } else {
      add(mask);
    }
  }
  if (call.flag("is_causal", false)) add(causal_bias(call, heads, dtype));
  if (call.has(6)) {
    const Value places = line(keys);
    const Value padded = ge(places, unsqueeze(call[6], 1));
    const Value shaped = unsqueeze(unsqueeze(padded, 1), 1);
    add(masked_fill(cast(call, shaped, dtype) * 0, shaped, -kInfinity));
  }
  return bias;
}

// A scale, no cap, no scores asked for: torch's own attention.
bool is_plain(const Call& call) {
  return call.real("softcap", 0) == 0 && !call.wants(3) &&
         !call.has_attribute("softmax_precision");
}

double scale_of(const Call& call, const Heads& heads) {
  if (call.has_attribute("scale")) return call.real("scale", 1);
  return 1 / std::sqrt(static_cast<double>(known_size(call, heads.q, 3)));
}

Results attention(Call& call) {
  const Heads heads = read_heads(call);
  const DType dtype = call.dtype(0);
  const double scale = scale_of(call, heads);
  const Value bias = bias_of(call, heads, dtype);
  const Value k = repeated_heads(call, heads.k, heads.times);
  const Value v = repeated_heads(call, heads.v, heads.times);
  const auto results = [&](Value y, const Value& scores) {
    if (heads.packed) y = out_of_heads(call, y);
    return std::vector<Operand>{y, heads.k, heads.v, scores};
  };
  if (is_plain(call))
    return results(nn::functional::scaled_dot_product_attention(
                       heads.q, k, v, bias, 0.0, false, scale),
                   {});
  const double root = std::sqrt(scale);
  Value scores = matmul(heads.q * root, transpose(k, -1, -2) * root);
  const Value products = scores;
  if (const double cap = call.real("softcap", 0); cap > 0)
    scores = tanh(scores / cap) * cap;
  const Value capped = scores;
  if (!bias.is_none()) scores = scores + bias;
  const Value biased = scores;
  if (call.has_attribute("softmax_precision"))
    scores = cast(call, scores, named_type(call, "softmax_precision"));
  const Value weights = softmax(scores, -1);
  const Value shown[] = {products, capped, biased, weights};
  const int64_t mode = call.integer("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3) call.fail("qk_matmul_output_mode is unknown");
  const Value y = matmul(weights, cast(call, v, call.dtype_of(weights)));
  return results(cast(call, y, dtype), cast(call, shown[mode], dtype));
}

// The even and odd elements of the last dim, or its halves.
std::pair<Value, Value> rotated_parts(const Value& x, bool interleaved,
                                      int64_t half) {
  if (!interleaved) return {narrow(x, -1, 0, half), narrow(x, -1, half, half)};
  const Value pairs = unflatten(x, -1, Value::list({half, 2}));
  return {select(pairs, -1, 0), select(pairs, -1, 1)};
}

Results rotary_embedding(Call& call) {
  const bool packed = call.rank(0) == 3;
  Value x = packed ? in_heads(call, call[0], call.integer("num_heads"))
                   : call[0];  // [n, heads, length, size]
  int64_t rotated = call.integer("rotary_embedding_dim", 0);
  const int64_t size = known_size(call, x, 3);
  if (rotated == 0) rotated = size;
  if (rotated < 0 || rotated > size || rotated % 2 != 0)
    call.fail("rotary_embedding_dim: " + std::to_string(rotated));
  Value cosines = call[1], sines = call[2];
  if (call.has(3)) {
    const Value places = cast(call, call[3], DType::i64);
    cosines = nn::functional::embedding(places, cosines);
    sines = nn::functional::embedding(places, sines);
  }
  cosines = unsqueeze(cosines, 1);
  sines = unsqueeze(sines, 1);
  const bool interleaved = call.flag("interleaved", false);
  const auto [a, b] =
      rotated_parts(narrow(x, -1, 0, rotated), interleaved, rotated / 2);
  const Value real = cosines * a - sines * b;
  const Value imaginary = sines * a + cosines * b;
  Value y = interleaved ? flatten(stack(Value::list({real, imaginary}), -1), -2)
                        : cat(Value::list({real, imaginary}), -1);
  if (rotated < size)
    y = cat(Value::list({y, narrow(x, -1, rotated, size - rotated)}), -1);
  return packed ? out_of_heads(call, y) : y;
}

// Rows of a cache, from the place that each element of the batch has reached.
Results tensor_scatter(Call& call) {
  const int rank = call.rank(0);
  const int64_t axis = call.wrap(call.integer("axis", -2), rank);
  const Value rows = call.size(0, axis), count = call.size(1, axis);
  Value places = along(call, line(count), axis, rank);
  if (call.has(2)) places = places + along(call, call[2], 0, rank);
  if (call.text("mode", "linear") == "circular")
    places = remainder(places, rows);
  return scatter(call[0], axis,
                 expand(held(call, places), list_of(call.sizes(1))), call[1]);
}

// A convolution over the last k places, whose input ends with the present ones.
Results causal_conv(Call& call) {
  const Value k = call.size(1, 2), channels = call.size(1, 0);
  if (!k.is_int() || !channels.is_int())
    call.fail("the sizes of the weight vary");
  const int64_t before = k.as_int() - 1;
  const Value x = call.has(3)
                      ? cat(Value::list({call[3], call[0]}), 2)
                      : nn::functional::pad(call[0], Value::list({before, 0}));
  Value y =
      nn::functional::conv1d(x, call[1], call.optional(2), 1, 0, 1, channels);
  const std::string activation = call.text("activation", "none");
  if (activation == "silu" || activation == "swish")
    y = nn::functional::silu(y);
  else if (activation != "none")
    call.fail("activation \"" + activation + "\" is unknown");
  const Value length = call.sizes_of(x)[2];
  return std::vector<Operand>{y, narrow(x, 2, length - before, before)};
}

constexpr OpRow kTransformersOps[] = {
    {.op = "Attention", .since = 23, .run = attention},
    {.op = "CausalConvWithState", .since = 27, .run = causal_conv},
    {.op = "RotaryEmbedding", .since = 23, .run = rotary_embedding},
    {.op = "TensorScatter", .since = 24, .run = tensor_scatter},
};

}  // namespace

std::span<const OpRow> transformer_rows() { return kTransformersOps; }

}  // namespace fxjit::onnx
