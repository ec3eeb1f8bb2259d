// Ops of the domain com.microsoft, which ONNX Runtime's optimiser writes: fused
// activations, norms and products.
#include <algorithm>
#include <cmath>

#include "src/import/onnx/ops/families.h"
#include "src/import/onnx/ops/microsoft.h"
#include "src/import/onnx/ops/windows.h"

namespace fxjit::onnx {
namespace {

namespace F = nn::functional;

Results gelu_exact(Call& call) { return F::gelu(call[0], "none"); }

Results gelu_by_sigmoid(Call& call) {
  return call[0] * sigmoid(call[0] * call.real("alpha", 1.702));
}

Results gelu_by_tanh(Call& call) {
  return F::gelu(call.has(1) ? call[0] + call[1] : call[0], "tanh");
}

Results gelu_of_sum(Call& call) { return F::gelu(call[0] + call[1], "none"); }

// Over the last dim. The results behind the first are the mean, the inverse of
// the deviation (for training; not given), and what was normalised.
std::vector<Operand> normalised(const Call& call, const Value& x,
                                const Value& y) {
  for (const size_t output : {1, 2})
    if (call.wants(output))
      call.fail("output " + std::to_string(output) + " is not supported");
  return {y, {}, {}, x};
}

Value last_size(const Call& call, const Value& x) {
  return Value::list({call.sizes_of(x).back()});
}

// The sum of the inputs, skip and bias.
Value sum_of(const Call& call, size_t bias) {
  const Value sum = call[0] + call[1];
  return call.has(bias) ? sum + call[bias] : sum;
}

Results skip_layer_norm(Call& call) {
  const Value x = sum_of(call, 4);
  return normalised(
      call, x,
      F::layer_norm(x, last_size(call, x), call[2], call.optional(3),
                    call.real("epsilon", 1e-12)));
}

Results skip_rms_norm(Call& call) {
  const Value x = sum_of(call, 3);
  return normalised(
      call, x,
      F::rms_norm(x, last_size(call, x), call[2], call.real("epsilon", 1e-5)));
}

// ONNX Runtime writes this one into ONNX's own domain.
Results plain_rms_norm(Call& call) {
  const int64_t axis = call.wrap(call.integer("axis", -1), call.rank(0));
  if (axis != call.rank(0) - 1) call.fail("axis: expected the last one");
  const Value x = call[0];
  return normalised(
      call, x,
      F::rms_norm(x, last_size(call, x), call[1], call.real("epsilon", 1e-5)));
}

// Words, places and segments, each a row of a table.
Results embed_layer_norm(Call& call) {
  const Value ids = call[0];
  const SizeList sizes = call.sizes(0);
  Value sum = F::embedding(cast(call, ids, DType::i64), call[2]);
  const Value places = call.has(8) ? cast(call, call[8], DType::i64)
                                   : held(call, line(sizes[1]));
  sum = sum + F::embedding(places, call[3]);
  if (call.has(1) && call.has(4))
    sum = sum + F::embedding(cast(call, call[1], DType::i64), call[4]);
  const Value y = F::layer_norm(sum, last_size(call, sum), call[5], call[6],
                                call.real("epsilon", 1e-12));
  const Value counted =
      call.has(7) ? cast(call, call[7] == 1, DType::i32) : zeros_like(ids);
  const Value lengths =
      cast(call, fxjit::sum(counted, Value::list({1})), DType::i32);
  return std::vector<Operand>{y, lengths, sum};
}

// What a fused op applies to its result; `numbers` are its parameters.
Value activated(const Call& call, const Value& x, const std::string& name,
                const std::vector<double>& numbers) {
  const auto number = [&](size_t i, double otherwise) {
    return i < numbers.size() ? numbers[i] : otherwise;
  };
  if (name.empty()) return x;
  if (name == "Relu") return relu(x);
  if (name == "Sigmoid") return sigmoid(x);
  if (name == "Tanh") return tanh(x);
  if (name == "LeakyRelu") return F::leaky_relu(x, number(0, 0.01));
  if (name == "HardSigmoid")
    return clamp(x * number(0, 0.2) + number(1, 0.5), 0.0, 1.0);
  if (name == "Clip" && numbers.size() >= 2)
    return clamp(x, numbers[0], numbers[1]);
  if (name == "HardSwish") return F::hardswish(x);
  call.fail("activation \"" + name + "\" is not supported");
}

Results fused_conv(Call& call) {
  Value y = convolution(call, call[0], call[1], call.optional(2), 1);
  if (call.has(3)) y = y + call[3];
  return activated(
      call, y, call.text("activation", ""),
      call.reals("activation_params").value_or(std::vector<double>()));
}

// The first dim behind those between it and the last one.
Value behind_batches(const Call& call, const Value& x) {
  const int rank = call.rank_of(x);
  std::vector<int64_t> order;
  for (int d = 1; d + 1 < rank; ++d) order.push_back(d);
  order.insert(order.end(), {0, rank - 1});
  return permute(x, list_of(order));
}

Value factor(const Call& call, size_t input, const char* turned,
             const char* batches_first) {
  Value x = call[input];
  if (call.rank(input) < 2) return x;
  if (call.flag(batches_first, false)) x = behind_batches(call, x);
  return call.flag(turned, false) ? transpose(x, -1, -2) : x;
}

Results fused_matmul(Call& call) {
  const Value product = matmul(factor(call, 0, "transA", "transBatchA"),
                               factor(call, 1, "transB", "transBatchB"));
  const double alpha = call.real("alpha", 1);
  return alpha == 1 ? product : product * alpha;
}

Results fused_gemm(Call& call) {
  const OpRow* const plain = find_row({}, "Gemm", 13);
  const Value y = run_row(*plain, call).items[0].value;
  return activated(
      call, y, call.text("activation", ""),
      {call.real("activation_alpha", 0.01), call.real("activation_beta", 0.5)});
}

// [n, height, width, channels].
Results nhwc_max_pool(Call& call) {
  std::vector<Operand> inputs = call.operands();
  inputs[0] = permute(call[0], {0, 3, 1, 2});
  Call planes = call.with_inputs(std::move(inputs));
  const OpRow* const plain = find_row({}, "MaxPool", 12);
  return permute(run_row(*plain, planes).items[0].value, {0, 2, 3, 1});
}

constexpr OpRow kMicrosoftOps[] = {
    {.op = "BiasGelu", .run = gelu_of_sum, .domain = kMicrosoft},
    {.op = "EmbedLayerNormalization",
     .run = embed_layer_norm,
     .domain = kMicrosoft},
    {.op = "FastGelu", .run = gelu_by_tanh, .domain = kMicrosoft},
    {.op = "FusedConv", .run = fused_conv, .domain = kMicrosoft},
    {.op = "FusedGemm", .run = fused_gemm, .domain = kMicrosoft},
    {.op = "FusedMatMul", .run = fused_matmul, .domain = kMicrosoft},
    {.op = "Gelu", .run = gelu_exact, .domain = kMicrosoft},
    {.op = "Inverse", .function = "torch.linalg.inv", .domain = kMicrosoft},
    {.op = "NhwcMaxPool", .run = nhwc_max_pool, .domain = kMicrosoft},
    {.op = "QuickGelu", .run = gelu_by_sigmoid, .domain = kMicrosoft},
    {.op = "SimplifiedLayerNormalization", .run = plain_rms_norm},
    {.op = "SkipLayerNormalization",
     .run = skip_layer_norm,
     .domain = kMicrosoft},
    {.op = "SkipSimplifiedLayerNormalization",
     .run = skip_rms_norm,
     .domain = kMicrosoft},
    {.op = "TransposeMatMul", .run = fused_matmul, .domain = kMicrosoft},
};

}  // namespace

std::span<const OpRow> microsoft_rows() { return kMicrosoftOps; }

}  // namespace fxjit::onnx
