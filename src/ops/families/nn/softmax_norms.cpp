// Softmax and the normalisations, composed of reductions and elementwise ops so
// that each fuses into one pass over rows. The half types compute in float32
// and are rounded once at the end.
#include "fxjit/functions_structured.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

struct SoftmaxInput {
  Value wide;
  Value dim;
  DType dtype;
  bool empty = false;
};

// torch.nn.functional's choice when `dim` is left out.
int64_t implicit_dim(int rank) {
  return rank == 0 || rank == 1 || rank == 3 ? 0 : 1;
}

SoftmaxInput softmax_input(const OpCall& call) {
  const Tensor input = meta_of(call[0]);
  DType dtype = input.dtype();
  // torch.softmax takes the dtype as third positional argument.
  if (call[2].is_dtype()) dtype = call[2].as_dtype();
  dtype = dtype_arg(call, 3, dtype);
  const int64_t dim = call.has(1) ? call.integer(1) : implicit_dim(input.dim());
  const int axis = wrap_dim(dim, input.dim());
  if (!is_floating(dtype)) {
    const bool logarithm = call.op.name().starts_with("log");
    const bool last = axis + 1 >= input.dim();
    no_kernel(std::string(logarithm ? "log_softmax" : "softmax") +
                  (last ? "_lastdim_kernel_impl" : "_kernel_impl"),
              dtype);
  }
  const Value dims = axes_value(input.dim() == 0 ? Dims() : Dims({axis}));
  return {widened(cast_to(call[0], dtype), dtype), dims, dtype,
          input.numel() == 0};
}

Value decompose_softmax(const OpCall& call) {
  const SoftmaxInput in = softmax_input(call);
  if (in.empty) return narrowed(fxjit::exp(in.wide), in.wide, in.dtype);
  const Value e = fxjit::exp(in.wide - fxjit::amax(in.wide, in.dim, true));
  return narrowed(e / fxjit::sum(e, in.dim, true), in.wide, in.dtype);
}

Value decompose_log_softmax(const OpCall& call) {
  const SoftmaxInput in = softmax_input(call);
  if (in.empty) return narrowed(fxjit::exp(in.wide), in.wide, in.dtype);
  const Value shifted = in.wide - fxjit::amax(in.wide, in.dim, true);
  const Value total = fxjit::sum(fxjit::exp(shifted), in.dim, true);
  return narrowed(shifted - fxjit::log(total), in.wide, in.dtype);
}

// aten._softmax(input, dim, half_to_float).
Value decompose_aten_softmax(const OpCall& call) {
  return fxjit::softmax(call[0], call[1],
                        call.flag(2) ? Value(DType::f32) : Value());
}
Value decompose_aten_log_softmax(const OpCall& call) {
  return fxjit::log_softmax(call[0], call[1],
                            call.flag(2) ? Value(DType::f32) : Value());
}

// The trailing dims named by `normalized_shape`.
Dims normalized_axes(const OpCall& call, const Tensor& input) {
  const Dims shape = call.dims(1);
  const int first = input.dim() - shape.size();
  bool fits = first >= 0 && !shape.empty();
  for (int d = 0; fits && d < shape.size(); ++d)
    fits = input.sizes()[first + d] == shape[d];
  if (!fits) {
    std::string expected = "[*";
    for (int64_t size : shape) expected += ", " + std::to_string(size);
    runtime_error("Given normalized_shape=", shape,
                  ", expected input with shape ", expected,
                  "], but got input of size", input.sizes());
  }
  return dims_between(first, input.dim());
}

void check_affine(const OpCall& call, size_t i, const char* name) {
  if (!call.has(i)) return;
  const Dims sizes = meta_of(call[i]).sizes();
  if (sizes == call.dims(1)) return;
  runtime_error("Expected ", name,
                " to be of same shape as normalized_shape, but got ", name,
                " of shape ", sizes, " and normalized_shape = ", call.dims(1));
}

Value scaled(Value value, const Value& weight, const Value& bias, DType dtype) {
  if (!weight.is_none()) value = value * widened(weight, dtype);
  if (!bias.is_none()) value = value + widened(bias, dtype);
  return value;
}

struct Standardised {
  Value value, mean, inverse_deviation, variance;
};

// (x - mean) / sqrt(variance + eps) over `axes`; variance in a second pass.
Standardised standardised(const Value& wide, const Dims& axes, double eps) {
  const Value dims = axes_value(axes);
  const Value count = count_along(meta_of(wide), axes);
  const Value mean = fxjit::sum(wide, dims, true) / count;
  const Value distance = wide - mean;
  const Value variance = fxjit::sum(distance * distance, dims, true) / count;
  const Value inverse = fxjit::rsqrt(variance + eps);
  return {distance * inverse, mean, inverse, variance};
}

Value decompose_layer_norm(const OpCall& call) {
  const Tensor input = meta_of(call[0]);
  const Dims axes = normalized_axes(call, input);
  check_affine(call, 2, "weight");
  check_affine(call, 3, "bias");
  const DType dtype = input.dtype();
  const Value wide = widened(call[0], dtype);
  const Standardised s = standardised(wide, axes, call.number(4));
  return narrowed(scaled(s.value, call[2], call[3], dtype), wide, dtype);
}

// aten.native_layer_norm: also the statistics, in the input's dtype unless a
// weight or bias of another takes part.
Value decompose_native_layer_norm(const OpCall& call) {
  const Tensor input = meta_of(call[0]);
  const Dims axes = normalized_axes(call, input);
  const DType dtype = input.dtype();
  const Value wide = widened(call[0], dtype);
  const Standardised s = standardised(wide, axes, call.number(4));
  const bool mixed = (call.has(2) && meta_of(call[2]).dtype() != dtype) ||
                     (call.has(3) && meta_of(call[3]).dtype() != dtype);
  const auto statistic = [&](const Value& value) {
    return mixed ? value : narrowed(value, wide, dtype);
  };
  return Value::tuple(
      {narrowed(scaled(s.value, call[2], call[3], dtype), wide, dtype),
       statistic(s.mean), statistic(s.inverse_deviation)});
}

Value decompose_rms_norm(const OpCall& call) {
  const Tensor input = meta_of(call[0]);
  const Dims axes = normalized_axes(call, input);
  check_affine(call, 2, "weight");
  const DType dtype = input.dtype();
  const Value wide = widened(call[0], dtype);
  const Value value = wide * inverse_rms(call, wide, axes);
  return narrowed(scaled(value, call[2], None, dtype), wide, dtype);
}

// A per-channel vector shaped to broadcast over [N, C, ...].
Value per_channel(const Value& vector, int rank, DType dtype) {
  ValueList shape(static_cast<size_t>(rank), Value(1));
  shape[1] = -1;
  return fxjit::reshape(widened(vector, dtype), Value::tuple(std::move(shape)));
}

Value scaled_channels(Value value, const Value& weight, const Value& bias,
                      int rank, DType dtype) {
  if (!weight.is_none()) value = value * per_channel(weight, rank, dtype);
  if (!bias.is_none()) value = value + per_channel(bias, rank, dtype);
  return value;
}

struct BatchNorm {
  Value input, mean, variance, weight, bias;
  bool training = false;
  double momentum = 0;
  double eps = 1e-5;
};

// running = (1 - momentum) * running + momentum * batch, in place.
void update(const Value& running, const Value& batch, double momentum) {
  if (!running.is_tensor() || running.as_tensor().is_meta()) return;
  const Value flat = fxjit::reshape(batch, running.as_tensor().sizes());
  const Value next = running * (1 - momentum) + flat * momentum;
  running.as_tensor().copy_from(next.as_tensor());
}

// Updates tensors that have numbers; under shape rules nothing changes.
void update_statistics(const BatchNorm& args, const Standardised& batch,
                       int64_t count) {
  if (!args.input.is_tensor() || args.input.as_tensor().is_meta()) return;
  const double numbers = static_cast<double>(count);
  update(args.mean, batch.mean, args.momentum);
  update(args.variance, batch.variance * (numbers / (numbers - 1)),
         args.momentum);
}

void check_channels(const char* name, const Value& value, Size channels) {
  if (value.is_none() || meta_of(value).numel() == channels) return;
  runtime_error(name, " should contain ", channels, " elements not ",
                meta_of(value).numel());
}

Value batch_norm(const BatchNorm& args) {
  const Tensor input = meta_of(args.input);
  if (input.dim() < 2)
    runtime_error("batch_norm: expected at least 2 dimensions, got ",
                  input.sizes());
  check_channels("running_mean", args.mean, input.sizes()[1]);
  check_channels("running_var", args.variance, input.sizes()[1]);
  check_channels("weight", args.weight, input.sizes()[1]);
  check_channels("bias", args.bias, input.sizes()[1]);
  const DType dtype = input.dtype();
  const int rank = input.dim();
  const Value wide = widened(args.input, dtype);
  Value value;
  if (args.training) {
    const Dims others = dims_between(0, rank, {1});
    const Standardised batch = standardised(wide, others, args.eps);
    value = batch.value;
    update_statistics(args, batch, count_along(input, others));
  } else {
    if (args.mean.is_none() || args.variance.is_none())
      runtime_error(
          "Expected running_mean and running_var to be defined when "
          "training=False");
    const Value inverse =
        fxjit::rsqrt(per_channel(args.variance, rank, dtype) + args.eps);
    value = (wide - per_channel(args.mean, rank, dtype)) * inverse;
  }
  return narrowed(scaled_channels(value, args.weight, args.bias, rank, dtype),
                  wide, dtype);
}

Value decompose_batch_norm(const OpCall& call) {
  const Tensor input = meta_of(call[0]);
  if (call.flag(5) && input.dim() >= 2 && input.sizes()[1] == input.numel())
    throw ValueError(
        "Expected more than 1 value per channel when training, got input size "
        "torch.Size(" +
        input.sizes().str() + ")");
  return batch_norm({.input = call[0],
                     .mean = call[1],
                     .variance = call[2],
                     .weight = call[3],
                     .bias = call[4],
                     .training = call.flag(5),
                     .momentum = call.number(6),
                     .eps = call.number(7)});
}

// torch.batch_norm has the parameters in another order.
Value decompose_aten_batch_norm(const OpCall& call) {
  return batch_norm({.input = call[0],
                     .mean = call[3],
                     .variance = call[4],
                     .weight = call[1],
                     .bias = call[2],
                     .training = call.flag(5),
                     .momentum = call.number(6),
                     .eps = call.number(7)});
}

// aten._native_batch_norm_legit_no_training: result and two empty statistics.
Value decompose_legit_batch_norm(const OpCall& call) {
  const Value result = batch_norm({.input = call[0],
                                   .mean = call[3],
                                   .variance = call[4],
                                   .weight = call[1],
                                   .bias = call[2],
                                   .eps = call.number(6)});
  const auto none = [] { return fxjit::zeros(Value::tuple({0})); };
  return Value::tuple({result, none(), none()});
}

Value grouped_norm(const Value& value, Size groups, const Value& weight,
                   const Value& bias, double eps) {
  const Tensor input = meta_of(value);
  const DType dtype = input.dtype();
  const Value wide = widened(value, dtype);
  const Value rows = fxjit::reshape(
      wide, Value::tuple({input.sizes()[0], groups,
                          input.numel() == 0 ? Value(0) : Value(-1)}));
  const Value result =
      fxjit::reshape(standardised(rows, {2}, eps).value, input.sizes());
  return narrowed(scaled_channels(result, weight, bias, input.dim(), dtype),
                  wide, dtype);
}

Value decompose_group_norm(const OpCall& call) {
  const Tensor input = meta_of(call[0]);
  const int64_t groups = call.integer(1);
  if (input.dim() < 2)
    runtime_error(
        "Expected at least 2 dimensions for input tensor but received ",
        input.dim());
  if (groups <= 0 || input.sizes()[1] % groups != 0)
    runtime_error(
        "Expected number of channels in input to be divisible by num_groups, "
        "but got input of shape ",
        input.sizes(), " and num_groups=", groups);
  check_channels("weight", call[2], input.sizes()[1]);
  check_channels("bias", call[3], input.sizes()[1]);
  return grouped_norm(call[0], groups, call[2], call[3], call.number(4));
}

Value decompose_instance_norm(const OpCall& call) {
  if (!call.flag(5))
    return batch_norm({.input = call[0],
                       .mean = call[1],
                       .variance = call[2],
                       .weight = call[3],
                       .bias = call[4],
                       .eps = call.number(7)});
  if (call.has(1) || call.has(2))
    throw NotImplementedError(
        "instance_norm: expected no running statistics, got some");
  return grouped_norm(call[0], meta_of(call[0]).size(1), call[3], call[4],
                      call.number(7));
}

Value decompose_normalize(const OpCall& call) {
  const Tensor input = meta_of(call[0]);
  const DType dtype = input.dtype();
  const Value wide = widened(call[0], dtype);
  const Value length = fxjit::linalg_vector_norm(wide, call[1], call[2], true);
  return narrowed(wide / fxjit::clamp_min(length, call[3]), wide, dtype);
}

constexpr const char* kSoftmax = "input, dim=None, _stacklevel=3, dtype=None";

constexpr OpRow kSoftmaxNormsRows[] = {
    composed_row("softmax", kSoftmax,
                 "torch.softmax .softmax torch._C._special.special_softmax "
                 "F.softmax!",
                 decompose_softmax)
        .stating({.layout = Layout::plain}),
    composed_row(
        "log_softmax", kSoftmax,
        "torch.log_softmax .log_softmax torch._C._special.special_log_softmax "
        "F.log_softmax!",
        decompose_log_softmax)
        .stating({.layout = Layout::plain}),
    composed_row("_softmax", "input, dim, half_to_float", "",
                 decompose_aten_softmax)
        .stating({.layout = Layout::plain}),
    composed_row("_log_softmax", "input, dim, half_to_float", "",
                 decompose_aten_log_softmax)
        .stating({.layout = Layout::plain}),
    composed_row("layer_norm",
                 "input, normalized_shape, weight=None, bias=None, eps=1e-05",
                 "F.layer_norm! torch.layer_norm", decompose_layer_norm)
        .stating({.layout = Layout::plain}),
    composed_row("native_layer_norm",
                 "input, normalized_shape, weight, bias, eps",
                 "torch.native_layer_norm", decompose_native_layer_norm)
        .stating({.layout = Layout::plain}),
    composed_row("rms_norm", "input, normalized_shape, weight=None, eps=None",
                 "F.rms_norm! torch.rms_norm", decompose_rms_norm)
        .stating({.layout = Layout::volume}),
    composed_row("batch_norm",
                 "input, running_mean, running_var, weight=None, bias=None, "
                 "training=False, momentum=0.1, eps=1e-05",
                 "F.batch_norm!", decompose_batch_norm)
        .stating({.layout = Layout::volume}),
    composed_row("aten_batch_norm",
                 "input, weight, bias, running_mean, running_var, training, "
                 "momentum, eps, cudnn_enabled=False",
                 "torch.batch_norm", decompose_aten_batch_norm)
        .stating({.layout = Layout::volume}),
    composed_row(
        "_native_batch_norm_legit_no_training",
        "input, weight, bias, running_mean, running_var, momentum, eps", "",
        decompose_legit_batch_norm)
        .stating({.layout = Layout::volume}),
    composed_row("group_norm",
                 "input, num_groups, weight=None, bias=None, eps=1e-05",
                 "F.group_norm! torch.group_norm", decompose_group_norm)
        .stating({.layout = Layout::volume}),
    composed_row("instance_norm",
                 "input, running_mean=None, running_var=None, weight=None, "
                 "bias=None, use_input_stats=True, momentum=0.1, eps=1e-05",
                 "F.instance_norm!", decompose_instance_norm)
        .stating({.layout = Layout::plain}),
    composed_row("normalize", "input, p=2.0, dim=1, eps=1e-12, out=None",
                 "F.normalize!", decompose_normalize),
};

}  // namespace

std::span<const OpRow> softmax_norm_rows() { return kSoftmaxNormsRows; }

}  // namespace fxjit::ops
