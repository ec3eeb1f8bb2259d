// Normalising layers.
#pragma once

#include <cstdint>
#include <optional>

#include "fxjit/nn/layer.h"

namespace fxjit::nn {

// Over the last dims, of sizes `normalized_shape`.
class LayerNorm : public OwnLayer<LayerNorm, "LayerNorm"> {
 public:
  explicit LayerNorm(LayerArgs given);
  explicit LayerNorm(int64_t size, double eps = 1e-5,
                     bool elementwise_affine = true, bool bias = true)
      : LayerNorm(Dims{size}, eps, elementwise_affine, bias) {}
  explicit LayerNorm(const Dims& normalized_shape, double eps = 1e-5,
                     bool elementwise_affine = true, bool bias = true)
      : LayerNorm(
            LayerArgs::of({normalized_shape, eps, elementwise_affine, bias})) {}
  Value forward(Value input);

  const Dims normalized_shape = field("normalized_shape", Shown::bare);
  const double eps = field("eps");
  Parameter weight, bias;
};

// input / sqrt(mean(input^2) + eps) * weight. Without `eps` the machine epsilon
// of the input's type.
class RMSNorm : public OwnLayer<RMSNorm, "RMSNorm", "x"> {
 public:
  explicit RMSNorm(LayerArgs given);
  explicit RMSNorm(int64_t size, std::optional<double> eps = std::nullopt,
                   bool elementwise_affine = true)
      : RMSNorm(Dims{size}, eps, elementwise_affine) {}
  explicit RMSNorm(const Dims& normalized_shape,
                   std::optional<double> eps = std::nullopt,
                   bool elementwise_affine = true)
      : RMSNorm(LayerArgs::of({normalized_shape, eps, elementwise_affine})) {}
  Value forward(Value x);

  const Dims normalized_shape = field("normalized_shape", Shown::bare);
  const std::optional<double> eps = field("eps").or_none<double>();
  Parameter weight;
};

// Over channel groups of [N, C, ...].
class GroupNorm : public OwnLayer<GroupNorm, "GroupNorm"> {
 public:
  explicit GroupNorm(LayerArgs given);
  GroupNorm(int64_t num_groups, int64_t num_channels, double eps = 1e-5,
            bool affine = true)
      : GroupNorm(LayerArgs::of({num_groups, num_channels, eps, affine})) {}
  Value forward(Value input);

  const int64_t num_groups = field("num_groups", Shown::bare);
  const int64_t num_channels = field("num_channels", Shown::bare);
  const double eps = field("eps");
  Parameter weight, bias;
};

// State and forward of the batch norms: running statistics per channel.
class BatchNormBase : public LayerBase {
 public:
  BatchNormBase(const LayerClass& layer, LayerArgs given);
  Value forward(Value input);
  // In training calls update the running statistics.
  bool is_impure() const override {
    return training() && running_mean.defined();
  }

 protected:
  const int rank_;  // Of the input, batched.

 public:
  const int64_t num_features = field("num_features", Shown::bare);
  const double eps = field("eps"), momentum = field("momentum");
  Parameter weight, bias;
  Buffer running_mean, running_var, num_batches_tracked;
};

// The number at the end of the name counts the dims of the input after those
// of the batch and of the channels.
template <typename T, Text name, typename NormBase, bool by_default>
class NormLayer : public OwnLayer<T, name, "input", NormBase> {
 public:
  using NormLayer::TorchLayer::TorchLayer;
  explicit NormLayer(int64_t num_features, double eps = 1e-5,
                     double momentum = 0.1, bool affine = by_default,
                     bool track_running_stats = by_default)
      : NormLayer::TorchLayer(LayerArgs::of(
            {num_features, eps, momentum, affine, track_running_stats})) {}
};

template <typename T, Text name>
using BatchNorm = NormLayer<T, name, BatchNormBase, true>;

// Takes [N, C] or [N, C, L].
struct BatchNorm1d : BatchNorm<BatchNorm1d, "BatchNorm1d"> {
  using NormLayer::NormLayer;
};
// Takes [N, C, H, W].
struct BatchNorm2d : BatchNorm<BatchNorm2d, "BatchNorm2d"> {
  using NormLayer::NormLayer;
};
// Takes [N, C, D, H, W].
struct BatchNorm3d : BatchNorm<BatchNorm3d, "BatchNorm3d"> {
  using NormLayer::NormLayer;
};

// Instance norms: each channel of each image by its own statistics. They have
// weight and bias if `affine`; with running statistics, eval() uses those.
class InstanceNormBase : public BatchNormBase {
 public:
  using BatchNormBase::BatchNormBase;
  Value forward(Value input);
};

template <typename T, Text name>
using InstanceNorm = NormLayer<T, name, InstanceNormBase, false>;

// Takes [N, C, L] or [C, L].
struct InstanceNorm1d : InstanceNorm<InstanceNorm1d, "InstanceNorm1d"> {
  using NormLayer::NormLayer;
};
// Takes [N, C, H, W] or [C, H, W].
struct InstanceNorm2d : InstanceNorm<InstanceNorm2d, "InstanceNorm2d"> {
  using NormLayer::NormLayer;
};

using NormalizationLayers =
    LayerList<LayerNorm, RMSNorm, GroupNorm, BatchNorm1d, BatchNorm2d,
              BatchNorm3d, InstanceNorm1d, InstanceNorm2d>;

}  // namespace fxjit::nn
