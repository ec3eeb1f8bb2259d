// Attention by a state that each place changes, and attention with functions of
// the model's own.
#include <cmath>

#include "src/import/onnx/graph_reader.h"
#include "src/import/onnx/ops/families.h"

namespace fxjit::onnx {
namespace {

// Larger graphs than this are no gain.
constexpr int64_t kMostSteps = 1024;

// In f32.
Value wide_heads(const Call& call, size_t input, int64_t heads) {
  return in_heads(call, cast(call, call[input], DType::f32), heads);
}

Value repeated(const Value& x, int64_t times) {
  return times == 1 ? x : repeat_interleave(x, times, 1);
}

double usual_scale(const Call& call, const Value& head_size) {
  if (!head_size.is_int()) call.fail("the size of a head varies");
  return 1 / std::sqrt(static_cast<double>(head_size.as_int()));
}

struct Rule {
  bool gates = false, corrects = false;
};

Rule read_rule(const Call& call) {
  const std::string name = call.text("update_rule", "gated_delta");
  if (name == "linear") return {};
  if (name == "gated") return {true, false};
  if (name == "delta") return {false, true};
  if (name == "gated_delta") return {true, true};
  call.fail("update_rule: \"" + name + "\" is unknown");
}

Value step_of(const Value& x, int64_t t) { return select(x, 2, t); }

// The state is [n, heads, keys, values].
Results linear_attention(Call& call) {
  const int64_t queries = call.integer("q_num_heads");
  const int64_t keys = call.integer("kv_num_heads");
  if (queries < 1 || keys < 1 || queries % keys != 0)
    call.fail("q_num_heads, kv_num_heads: " + std::to_string(queries) + ", " +
              std::to_string(keys));
  const Rule rule = read_rule(call);
  const Value q = wide_heads(call, 0, queries), k = wide_heads(call, 1, keys),
              v = wide_heads(call, 2, keys);
  Value decay, beta;
  if (rule.gates) decay = wide_heads(call, 4, keys);
  if (rule.corrects) {
    const Value last = call.size(5, -1);
    beta = wide_heads(call, 5, last.is_int() ? last.as_int() : keys);
  }
  const Value length = call.size(0, 1);
  if (!length.is_int() || length.as_int() > kMostSteps || length.as_int() < 1)
    call.fail("it needs a known length of at most " +
              std::to_string(kMostSteps));
  const SizeList ks = call.sizes_of(k), vs = call.sizes_of(v);
  double scale = call.real("scale", 0);
  if (scale == 0) scale = usual_scale(call, ks[3]);
  const DType dtype = call.dtype(0);
  const DType state_type = call.has(3) ? call.dtype(3) : dtype;
  Value state = call.has(3)
                    ? cast(call, call[3], DType::f32)
                    : held(call, full(Value::list({ks[0], keys, ks[3], vs[3]}),
                                      0.0, DType::f32));
  ValueList outputs;
  for (int64_t t = 0; t < length.as_int(); ++t) {
    const Value key = step_of(k, t);
    Value value = step_of(v, t);
    if (rule.gates) state = state * unsqueeze(exp(step_of(decay, t)), -1);
    if (rule.corrects) {
      const Value retrieved = squeeze(matmul(unsqueeze(key, 2), state), 2);
      value = step_of(beta, t) * (value - retrieved);
    }
    state = state + unsqueeze(key, -1) * unsqueeze(value, 2);
    const Value read =
        matmul(unsqueeze(step_of(q, t), 2), repeated(state, queries / keys));
    outputs.push_back(squeeze(read, 2) * scale);
  }
  const Value y = stack(Value::list(std::move(outputs)), 1);
  return std::vector<Operand>{cast(call, flatten(y, 2), dtype),
                              cast(call, state, state_type)};
}

// A function of the scores that the model gives as a graph.
Value modified(Call& call, std::string_view name, const Value& x) {
  if (!call.has_attribute(name)) return x;
  const auto results =
      call.reader().read_inside(call, call.graph(name), {Operand(x)});
  if (results.size() != 1)
    call.fail(std::string(name) + ": expected one output");
  return call.tensor_of(results[0]);
}

Results flex_attention(Call& call) {
  const Value heads = call.size(0, 1), keys = call.size(1, 1);
  if (!heads.is_int() || !keys.is_int() || keys.as_int() < 1)
    call.fail("the number of heads varies");
  const int64_t times = heads.as_int() / keys.as_int();
  const DType dtype = call.dtype(0);
  DType precision = dtype == DType::f64 ? DType::f64 : DType::f32;
  if (call.has_attribute("softmax_precision"))
    precision = named_type(call, "softmax_precision");
  const double scale = call.has_attribute("scale")
                           ? call.real("scale", 0)
                           : usual_scale(call, call.size(0, 3));
  const Value k = repeated(call[1], times), v = repeated(call[2], times);
  Value scores = matmul(cast(call, call[0], precision),
                        transpose(cast(call, k, precision), -1, -2)) *
                 scale;
  scores = modified(call, "score_mod", scores);
  const Value weights = modified(call, "prob_mod", softmax(scores, -1));
  return cast(call, matmul(weights, cast(call, v, precision)), dtype);
}

constexpr OpRow kLinearAttentionOps[] = {
    {.op = "FlexAttention",
     .since = 1,
     .run = flex_attention,
     .domain = "ai.onnx.preview"},
    {.op = "LinearAttention", .since = 27, .run = linear_attention},
};

}  // namespace

std::span<const OpRow> linear_attention_rows() { return kLinearAttentionOps; }

}  // namespace fxjit::onnx
