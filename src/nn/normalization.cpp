#include "fxjit/nn/normalization.h"

#include "fxjit/functions_structured.h"
#include "fxjit/nn/init.h"
#include "src/nn/repr_parts.h"

namespace fxjit::nn {
namespace {

Parameter filled(const Dims& sizes, double value, bool present) {
  return present ? Parameter(init::constant(sizes, value)) : Parameter();
}

}  // namespace

LayerNorm::LayerNorm(const Dims& normalized_shape, double eps,
                     bool elementwise_affine, bool with_bias)
    : Custom("LayerNorm", {"input"}),
      normalized_shape(normalized_shape),
      eps(eps) {
  weight = register_parameter("weight",
                              filled(normalized_shape, 1, elementwise_affine));
  bias = register_parameter(
      "bias", filled(normalized_shape, 0, elementwise_affine && with_bias));
}

Value LayerNorm::forward(Value input) {
  return functional::layer_norm(input, size_tuple(normalized_shape), weight,
                                bias, eps);
}

std::string LayerNorm::extra_repr() const {
  return py(normalized_shape) + ", eps=" + py(eps) +
         ", elementwise_affine=" + py(weight.defined()) +
         ", bias=" + py(bias.defined());
}

RMSNorm::RMSNorm(const Dims& normalized_shape, std::optional<double> eps,
                 bool elementwise_affine)
    : Custom("RMSNorm", {"x"}), normalized_shape(normalized_shape), eps(eps) {
  weight = register_parameter("weight",
                              filled(normalized_shape, 1, elementwise_affine));
}

Value RMSNorm::forward(Value x) {
  return functional::rms_norm(x, size_tuple(normalized_shape), weight,
                              Value(eps));
}

std::string RMSNorm::extra_repr() const {
  return py(normalized_shape) + ", eps=" + py(Value(eps)) +
         ", elementwise_affine=" + py(weight.defined());
}

GroupNorm::GroupNorm(int64_t num_groups, int64_t num_channels, double eps,
                     bool affine)
    : Custom("GroupNorm", {"input"}),
      num_groups(num_groups),
      num_channels(num_channels),
      eps(eps) {
  if (num_groups <= 0 || num_channels % num_groups != 0)
    throw ValueError("num_channels (" + std::to_string(num_channels) +
                     ") must be divisible by num_groups (" +
                     std::to_string(num_groups) + ")");
  weight = register_parameter("weight", filled({num_channels}, 1, affine));
  bias = register_parameter("bias", filled({num_channels}, 0, affine));
}

Value GroupNorm::forward(Value input) {
  return functional::group_norm(input, num_groups, weight, bias, eps);
}

std::string GroupNorm::extra_repr() const {
  return std::to_string(num_groups) + ", " + std::to_string(num_channels) +
         ", eps=" + py(eps) + ", affine=" + py(weight.defined()) +
         ", bias=" + py(bias.defined());
}

BatchNormBase::BatchNormBase(const std::string& type_name, int dims,
                             int64_t num_features, double eps, double momentum,
                             bool affine, bool track_running_stats)
    : LeafModule(type_name + std::to_string(dims) + "d", {"input"}),
      num_features(num_features),
      eps(eps),
      momentum(momentum),
      rank_(dims + 2) {
  const Dims channels = {num_features};
  weight = register_parameter("weight", filled(channels, 1, affine));
  bias = register_parameter("bias", filled(channels, 0, affine));
  if (!track_running_stats) return;
  running_mean = register_buffer("running_mean", init::constant(channels, 0));
  running_var = register_buffer("running_var", init::constant(channels, 1));
  num_batches_tracked =
      register_buffer("num_batches_tracked", Tensor::zeros({}, DType::i64));
}

Value BatchNormBase::forward(Value input) {
  if (input.is_tensor()) {
    const int rank = input.as_tensor().dim();
    const bool flat = rank_ == 3 && rank == 2;
    if (rank != rank_ && !flat)
      throw ValueError("expected " + std::string(rank_ == 3 ? "2D or " : "") +
                       std::to_string(rank_) + "D input (got " +
                       std::to_string(rank) + "D input)");
  }
  const bool use_batch = training() || !running_mean.defined();
  if (training() && running_mean.defined() && input.is_tensor() &&
      !input.as_tensor().is_meta())
    method(num_batches_tracked.value(), "add_", {1});
  return functional::batch_norm(input, running_mean, running_var, weight, bias,
                                use_batch, momentum, eps);
}

std::string BatchNormBase::extra_repr() const {
  return std::to_string(num_features) + ", eps=" + py(eps) +
         ", momentum=" + py(momentum) + ", affine=" + py(weight.defined()) +
         ", bias=" + py(bias.defined()) +
         ", track_running_stats=" + py(running_mean.defined());
}

}  // namespace fxjit::nn
