#include "fxjit/functions.h"
#include "src/ops/families/elementwise/elementwise.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/rounded.h"
#include "src/ops/table/families.h"
#include "src/ops/table/promote.h"

namespace fxjit::ops {
namespace {

Scalar zero_of(ScalarBuilder& b, Scalar x) { return b.constant(0, x.type()); }

Scalar clamp_to(ScalarBuilder& b, Scalar x, double low, double high) {
  return b.apply(Prim::minimum,
                 b.apply(Prim::maximum, x, b.constant(low, x.type())),
                 b.constant(high, x.type()));
}

// x above zero, `otherwise` else (and for NaN).
Scalar above_zero(ScalarBuilder& b, Scalar x, Scalar otherwise) {
  return b.select(b.apply(Prim::gt, x, zero_of(b, x)), x, otherwise);
}

Scalar relu(ScalarBuilder& b, const OpCall&, Inputs in) {
  return b.apply(Prim::maximum, in[0], zero_of(b, in[0]));
}

Scalar relu6(ScalarBuilder& b, const OpCall&, Inputs in) {
  return clamp_to(b, in[0], 0, 6);
}

Scalar hardtanh(ScalarBuilder& b, const OpCall& call, Inputs in) {
  return clamp_to(b, in[0], call.number(1), call.number(2));
}

Scalar leaky_relu(ScalarBuilder& b, const OpCall& call, Inputs in) {
  require_floating(in[0], "leaky_relu_cpu");
  return above_zero(b, in[0], in[0] * call.number(1));
}

Scalar scaled_elu(ScalarBuilder& b, Scalar x, double scale, double alpha,
                  double input_scale) {
  const Scalar inner = input_scale == 1 ? x : x * input_scale;
  const Scalar below = b.apply(Prim::expm1, inner) * (alpha * scale);
  const Scalar above = scale == 1 ? x : x * scale;
  return b.select(b.apply(Prim::lt, x, zero_of(b, x)), below, above);
}

Scalar elu(ScalarBuilder& b, const OpCall& call, Inputs in) {
  require_floating(in[0], "elu_cpu");
  return scaled_elu(b, in[0], 1, call.number(1), 1);
}

Scalar celu(ScalarBuilder& b, const OpCall& call, Inputs in) {
  require_floating(in[0], "elu_cpu");
  const double alpha = call.number(1);
  if (alpha == 0)
    runtime_error("ZeroDivisionError: alpha cannot be 0 for CELU");
  return scaled_elu(b, in[0], 1, alpha, 1 / alpha);
}

// The constants make zero mean and unit variance a fixed point.
Scalar selu(ScalarBuilder& b, const OpCall&, Inputs in) {
  require_floating(in[0], "elu_cpu");
  return scaled_elu(b, in[0], 1.0507009873554804934, 1.6732632423543772848, 1);
}

// A division takes four times the rest, and more than a product's epilogue has.
constexpr double kSixth = 1.0 / 6;

Scalar hardsigmoid(ScalarBuilder& b, const OpCall&, Inputs in) {
  require_floating(in[0], "hardsigmoid_cpu");
  return clamp_to(b, in[0] + 3.0, 0, 6) * kSixth;
}

Scalar hardswish(ScalarBuilder& b, const OpCall&, Inputs in) {
  require_floating(in[0], "hardswish_cpu");
  return in[0] * clamp_to(b, in[0] + 3.0, 0, 6) * kSixth;
}

// log(1 + exp(beta x)) / beta, linear where that is exact.
Scalar softplus(ScalarBuilder& b, const OpCall& call, Inputs in) {
  require_floating(in[0], "softplus_cpu");
  const double beta = call.number(1);
  const Scalar scaled = in[0] * beta;
  const Scalar smooth = b.apply(Prim::log1p, b.apply(Prim::exp, scaled)) / beta;
  const Scalar limit = b.constant(call.number(2), scaled.type());
  return b.select(b.apply(Prim::gt, scaled, limit), in[0], smooth);
}

// tanh(log(1 + e)) = e (e + 2) / (e (e + 2) + 2), which rounds to one from 20
// on in every dtype.
Scalar mish(ScalarBuilder& b, const OpCall&, Inputs in) {
  require_floating(in[0], "mish_cpu");
  const Scalar bound = b.constant(20.0, in[0].type());
  const Scalar e = b.apply(Prim::exp, b.apply(Prim::minimum, in[0], bound));
  const Scalar product = e * (e + 2.0);
  return in[0] * (product / (product + 2.0));
}

Scalar logsigmoid(ScalarBuilder& b, const OpCall&, Inputs in) {
  require_floating(in[0], "log_sigmoid_cpu");
  const Scalar tail = b.apply(Prim::exp, -b.apply(Prim::abs, in[0]));
  return b.apply(Prim::minimum, in[0], zero_of(b, in[0])) -
         b.apply(Prim::log1p, tail);
}

Scalar gelu(ScalarBuilder& b, const OpCall& call, Inputs in) {
  require_floating(in[0], "GeluKernelImpl");
  if (same(call[1], "none")) return b.apply(Prim::gelu, in[0]);
  if (same(call[1], "tanh")) return b.apply(Prim::gelu_tanh, in[0]);
  runtime_error("approximate argument must be either none or tanh.");
}

Scalar silu(ScalarBuilder& b, const OpCall&, Inputs in) {
  require_floating(in[0], "silu_cpu");
  return b.apply(Prim::silu, in[0]);
}

// PyTorch rounds between the steps of these two: they are calls, not a body.
Value softsign(const OpCall& call) {
  const Arg x(call[0], call.source);
  return x.value / (abs(x) + 1);
}

Value tanhshrink(const OpCall& call) {
  const Arg x(call[0], call.source);
  return x.value - method(x, "tanh");
}

// Both jump at the limit, so that element and limit are what their type holds.
Scalar hardshrink(ScalarBuilder& b, const OpCall& call, Inputs in) {
  require_floating(in[0], "hardshrink_cpu");
  const DType type = call.tensor(0).dtype();
  const Scalar x = rounded_value(b, in[0], type);
  const Scalar limit = rounded_number(b, call.number(1), type);
  const Scalar magnitude = b.apply(Prim::abs, x);
  // Written so that NaN is kept.
  return b.select(b.apply(Prim::le, magnitude, limit), zero_of(b, x), x);
}

Scalar softshrink(ScalarBuilder& b, const OpCall& call, Inputs in) {
  require_floating(in[0], "softshrink_check");
  const Scalar x = rounded_value(b, in[0], call.tensor(0).dtype());
  const double lambda = call.number(1);
  const Scalar limit = b.constant(lambda, x.type());
  const Scalar inside = x * 0.0 + 0.0;  // +0, or NaN for NaN.
  const Scalar below =
      b.select(b.apply(Prim::lt, x, -limit), x + lambda, inside);
  return b.select(b.apply(Prim::gt, x, limit), x - lambda, below);
}

// Numbers take the input's type, also where that rounds them.
Value infer_threshold(const OpCall& call) {
  ScalarTyping typing = scalar_typing(call);
  typing.inputs = typing.result = call.tensor(0).dtype();
  return infer_scalar(call, typing);
}

Scalar threshold(ScalarBuilder& b, const OpCall& call, Inputs in) {
  const ScalarArgs args(b, call, in);
  return b.select(b.apply(Prim::le, in[0], args[1]), args[2], in[0]);
}

// One weight for all, or one per channel (dimension 1).
Value prelu(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  const Tensor& weight = call.tensor(1);
  const int64_t channels = input.dim() > 1 ? input.sizes()[1] : Size(1);
  if (weight.numel() != 1 && weight.numel() != channels)
    call.fail("weight: expected 1 or " + std::to_string(channels) +
              " elements, got " + std::to_string(weight.numel()));
  Dims shape(input.dim(), 1);
  if (weight.numel() != 1) shape[1] = channels;
  const Arg x(call[0], call.source);
  const Value slope = method({call[1], call.source}, "reshape", {shape});
  return where(gt(x, 0), x, slope * x);
}

constexpr OpRow kRelu = scalar_row("relu", "input, inplace=False",
                                   "torch.relu F.relu! .relu nn.ReLU", relu);
constexpr OpRow kSigmoid =
    unary_row("sigmoid",
              "torch.sigmoid torch._C._special.special_expit .sigmoid "
              "nn.Sigmoid",
              unary<Prim::sigmoid>, kFloat);
constexpr OpRow kTanh =
    unary_row("tanh", "torch.tanh .tanh nn.Tanh", unary<Prim::tanh>, kFloat);

// The first half along `dim`, gated by the second.
Value glu(const OpCall& call) {
  const Tensor input = meta_of(call[0]);
  if (input.dim() == 0)
    runtime_error(
        "glu does not support scalars because halving size must be even");
  const int axis = dim_arg(call, 1, input.dim());
  const Size size = input.sizes()[axis];
  if (size % 2 != 0)
    runtime_error("Halving dimension must be even, but dimension ", axis,
                  " is size ", size);
  const auto half = [&](Size start) {
    return widened(fxjit::narrow(call[0], axis, start, size / 2),
                   input.dtype());
  };
  const Value kept = half(0);
  return narrowed(kept * fxjit::sigmoid(half(size / 2)), kept, input.dtype());
}

constexpr OpRow kActivationsRows[] = {
    kRelu,
    kSigmoid,
    kTanh,
    scalar_row("relu6", "input, inplace=False", "F.relu6! nn.ReLU6", relu6),
    scalar_row("hardtanh", "input, min_val=-1.0, max_val=1.0, inplace=False",
               "F.hardtanh! nn.Hardtanh", hardtanh),
    scalar_row("leaky_relu", "input, negative_slope=0.01, inplace=False",
               "F.leaky_relu! torch._C._nn.leaky_relu nn.LeakyReLU",
               leaky_relu),
    scalar_row("elu", "input, alpha=1.0, inplace=False", "F.elu! nn.ELU", elu),
    scalar_row("celu", "input, alpha=1.0, inplace=False",
               "F.celu! torch.celu nn.CELU", celu),
    scalar_row("selu", "input, inplace=False", "F.selu! torch.selu nn.SELU",
               selu),
    scalar_row("hardsigmoid", "input, inplace=False",
               "F.hardsigmoid! nn.Hardsigmoid", hardsigmoid),
    scalar_row("hardswish", "input, inplace=False", "F.hardswish! nn.Hardswish",
               hardswish),
    scalar_row("softplus", "input, beta=1, threshold=20",
               "torch._C._nn.softplus =F.softplus nn.Softplus", softplus),
    scalar_row("mish", "input, inplace=False", "F.mish! nn.Mish", mish),
    unary_row("log_sigmoid",
              "torch._C._nn.log_sigmoid =F.logsigmoid nn.LogSigmoid",
              logsigmoid)
        .stating({.layout = Layout::plain}),
    scalar_row("gelu", "input, approximate='none'",
               "torch._C._nn.gelu =F.gelu nn.GELU", gelu),
    scalar_row("silu", "input, inplace=False",
               "F.silu! torch._C._nn.silu nn.SiLU", silu),
    composed_row("softsign", "input", "F.softsign nn.Softsign", softsign),
    composed_row("tanhshrink", "input", "F.tanhshrink nn.Tanhshrink",
                 tanhshrink),
    scalar_row("hardshrink", "input, lambd=0.5",
               "torch.hardshrink =F.hardshrink .hardshrink nn.Hardshrink",
               hardshrink)
        .stating({.numbers = {"lambd"}}),
    scalar_row("softshrink", "input, lambd=0.5",
               "torch._C._nn.softshrink =F.softshrink nn.Softshrink",
               softshrink),
    custom_row("threshold", "input, threshold, value, inplace=False",
               "torch.nn.functional._threshold! =F.threshold torch.threshold "
               "nn.Threshold",
               infer_threshold, threshold)
        .stating({.numbers = {"value"}}),
    {.name = "prelu",
     .schema = "input, weight",
     .names = "torch.prelu =F.prelu .prelu nn.PReLU",
     .lowering = Lowering::decompose,
     .infer = infer_like_first,
     .decompose = prelu,
     .facts = {.layout = Layout::first}},
    composed_row("glu", "input, dim=-1", "F.glu! torch._C._nn.glu nn.GLU", glu),
    in_place(kRelu, "relu_", "torch.relu_ =F.relu_ .relu_"),
    in_place(kSigmoid, "sigmoid_", "torch.sigmoid_ .sigmoid_"),
    in_place(kTanh, "tanh_", "torch.tanh_ .tanh_"),
};

}  // namespace

std::span<const OpRow> activation_rows() { return kActivationsRows; }

}  // namespace fxjit::ops
