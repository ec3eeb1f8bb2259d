#include "fxjit/nn/normalization.h"

#include "fxjit/functions.h"
#include "fxjit/nn/init.h"
#include "src/ops/python/items.h"

namespace fxjit::nn {
namespace {

Parameter filled(const Dims& sizes, double value, bool present) {
  return present ? Parameter(init::constant(sizes, value)) : Parameter();
}

}  // namespace

LayerNorm::LayerNorm(LayerArgs given) : TorchLayer(std::move(given)) {
  const bool affine = presence("elementwise_affine", "weight");
  const bool with_bias = presence("bias", "bias");
  add("weight", &LayerNorm::weight, filled(normalized_shape, 1, affine));
  add("bias", &LayerNorm::bias,
      filled(normalized_shape, 0, affine && with_bias));
}

Value LayerNorm::forward(Value input) {
  return functional::layer_norm(
      input, ops::python::size_tuple(normalized_shape), weight, bias, eps);
}

RMSNorm::RMSNorm(LayerArgs given) : TorchLayer(std::move(given)) {
  const bool affine = presence("elementwise_affine", "weight");
  add("weight", &RMSNorm::weight, filled(normalized_shape, 1, affine));
}

Value RMSNorm::forward(Value x) {
  return functional::rms_norm(x, ops::python::size_tuple(normalized_shape),
                              weight, Value(eps));
}

GroupNorm::GroupNorm(LayerArgs given) : TorchLayer(std::move(given)) {
  if (num_groups <= 0 || num_channels % num_groups != 0)
    throw ValueError("num_channels (" + std::to_string(num_channels) +
                     ") must be divisible by num_groups (" +
                     std::to_string(num_groups) + ")");
  const bool affine = presence("affine", "weight");
  print_presence("bias");
  add("weight", &GroupNorm::weight, filled({num_channels}, 1, affine));
  add("bias", &GroupNorm::bias, filled({num_channels}, 0, affine));
}

Value GroupNorm::forward(Value input) {
  return functional::group_norm(input, num_groups, weight, bias, eps);
}

BatchNormBase::BatchNormBase(const LayerClass& layer, LayerArgs given)
    : LayerBase(layer, std::move(given)), rank_(dims() + 2) {
  using T = BatchNormBase;
  const Dims channels = {num_features};
  const bool affine = presence("affine", "weight");
  print_presence("bias");
  add("weight", &T::weight, filled(channels, 1, affine));
  add("bias", &T::bias, filled(channels, 0, affine));
  if (!presence("track_running_stats", "running_mean")) {
    keep("running_mean", &T::running_mean);
    keep("running_var", &T::running_var);
    keep("num_batches_tracked", &T::num_batches_tracked);
    return;
  }
  add("running_mean", &T::running_mean, Buffer(init::constant(channels, 0)));
  add("running_var", &T::running_var, Buffer(init::constant(channels, 1)));
  add("num_batches_tracked", &T::num_batches_tracked,
      Buffer(Tensor::zeros({}, DType::i64)));
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

Value InstanceNormBase::forward(Value input) {
  const int64_t rank = method(input, "dim", {}).as_int();
  if (rank != rank_ && rank != rank_ - 1)
    throw ValueError("expected " + std::to_string(rank_ - 1) + "D or " +
                     std::to_string(rank_) + "D input (got " +
                     std::to_string(rank) + "D input)");
  const bool batched = rank == rank_;
  if (!batched) input = unsqueeze(input, 0);
  const Value result =
      function("torch.nn.functional.instance_norm",
               {input, running_mean, running_var, weight, bias,
                training() || !running_mean.defined(), momentum, eps});
  return batched ? result : squeeze(result, 0);
}

}  // namespace fxjit::nn
