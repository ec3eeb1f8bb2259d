// Activations.
#include <cmath>

#include "src/import/onnx/ops/families.h"

namespace fxjit::onnx {
namespace {

namespace F = nn::functional;

Results leaky_relu(Call& call) {
  return F::leaky_relu(call[0], call.real("alpha", 0.01));
}

Results elu(Call& call) { return F::elu(call[0], call.real("alpha", 1)); }

Results celu(Call& call) { return F::celu(call[0], call.real("alpha", 1)); }

Results thresholded_relu(Call& call) {
  const Value x = call[0];  // NaN is above no threshold.
  return where(x > call.real("alpha", 1), x, zeros_like(x));
}

// scale * (max(x, 0) + alpha * (exp(min(x, 0)) - 1))
Results selu_of(Call& call) {
  const double alpha = call.real("alpha", 1.67326319217681884765625);
  const double gamma = call.real("gamma", 1.05070102214813232421875);
  const Value x = call[0];
  return gamma * where(x > 0, x, alpha * expm1(x));
}

Results hard_sigmoid(Call& call) {
  const double alpha = call.real("alpha", 0.2), beta = call.real("beta", 0.5);
  // torch's own, which the compiler knows.
  if (std::abs(alpha - 1.0 / 6) < 1e-6 && beta == 0.5)
    return F::hardsigmoid(call[0]);
  return clamp(alpha * call[0] + beta, 0.0, 1.0);
}

Results hard_swish(Call& call) { return F::hardswish(call[0]); }

Results mish(Call& call) { return F::mish(call[0]); }

Results swish(Call& call) {
  const double alpha = call.real("alpha", 1);
  if (alpha == 1) return F::silu(call[0]);
  return call[0] * sigmoid(alpha * call[0]);
}

Results gelu(Call& call) {
  return F::gelu(call[0], call.text("approximate", "none"));
}

Results shrink(Call& call) {
  const double lambd = call.real("lambd", 0.5), bias = call.real("bias", 0);
  const Value x = call[0];
  const Value low =
      where(x < -lambd, cast(call, x + bias, call.dtype(0)), zeros_like(x));
  return where(x > lambd, cast(call, x - bias, call.dtype(0)), low);
}

// Slopes broadcast as in arithmetic, from the last dim.
Results prelu_of(Call& call) {
  Value slope = call[1];
  const Value x = call[0];
  if (call.opset() < 7 && call.rank(1) == 1 && call.rank(0) > 1)
    for (int d = 2; d < call.rank(0); ++d) slope = unsqueeze(slope, -1);
  return where(x < 0, slope * x, x);
}

// Inference: nothing is dropped.
Results dropout(Call& call) {
  const auto training = call.known_int(2);
  if (call.has(2) && (!training || *training != 0)) {
    const auto ratio = call.known_float(1);
    if (!call.has(1) || !ratio || *ratio != 0)
      call.fail("training_mode: dropping is not supported");
  }
  Results results(call.operand(0));
  if (call.wants(1))
    results.items.emplace_back(ones_like(call[0], DType::boolean));
  return results;
}

constexpr OpRow kActivationsOps[] = {
    {.op = "Celu", .since = 12, .run = celu},
    {.op = "Dropout", .run = dropout},
    {.op = "Elu", .run = elu},
    {.op = "Gelu", .since = 20, .run = gelu},
    {.op = "HardSigmoid", .run = hard_sigmoid},
    {.op = "HardSwish", .since = 14, .run = hard_swish},
    {.op = "LeakyRelu", .run = leaky_relu},
    {.op = "Mish", .since = 18, .run = mish},
    {.op = "PRelu", .run = prelu_of},
    {.op = "Relu", .function = "torch.relu"},
    {.op = "Selu", .run = selu_of},
    {.op = "Shrink", .since = 9, .run = shrink},
    {.op = "Sigmoid", .function = "torch.sigmoid"},
    {.op = "Softplus", .function = "torch._C._nn.softplus"},
    {.op = "Softsign", .function = "F.softsign"},
    {.op = "Swish", .since = 24, .run = swish},
    {.op = "ThresholdedRelu", .since = 10, .run = thresholded_relu},
};

}  // namespace

std::span<const OpRow> activation_rows() { return kActivationsOps; }

}  // namespace fxjit::onnx
