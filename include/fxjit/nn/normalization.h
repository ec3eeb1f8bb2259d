// Normalising layers.
#pragma once

#include <cstdint>
#include <optional>

#include "fxjit/nn/layer.h"

namespace fxjit::nn {

// Over the last dims, of sizes `normalized_shape`.
class LayerNorm : public Layer<LayerNorm> {
 public:
  explicit LayerNorm(int64_t size, double eps = 1e-5,
                     bool elementwise_affine = true, bool bias = true)
      : LayerNorm(Dims{size}, eps, elementwise_affine, bias) {}
  explicit LayerNorm(const Dims& normalized_shape, double eps = 1e-5,
                     bool elementwise_affine = true, bool bias = true);
  Value forward(Value input);
  std::string extra_repr() const override;

  const Dims normalized_shape;
  const double eps;
  Parameter weight, bias;
};

// input / sqrt(mean(input^2) + eps) * weight. Without `eps` the machine epsilon
// of the input's type.
class RMSNorm : public Layer<RMSNorm> {
 public:
  explicit RMSNorm(int64_t size, std::optional<double> eps = std::nullopt,
                   bool elementwise_affine = true)
      : RMSNorm(Dims{size}, eps, elementwise_affine) {}
  explicit RMSNorm(const Dims& normalized_shape,
                   std::optional<double> eps = std::nullopt,
                   bool elementwise_affine = true);
  Value forward(Value x);
  std::string extra_repr() const override;

  const Dims normalized_shape;
  const std::optional<double> eps;
  Parameter weight;
};

// Over channel groups of [N, C, ...].
class GroupNorm : public Layer<GroupNorm> {
 public:
  GroupNorm(int64_t num_groups, int64_t num_channels, double eps = 1e-5,
            bool affine = true);
  Value forward(Value input);
  std::string extra_repr() const override;

  const int64_t num_groups, num_channels;
  const double eps;
  Parameter weight, bias;
};

// State and forward of the batch norms: running statistics per channel.
class BatchNormBase : public LeafModule {
 public:
  // `type_name` gets "1d", "2d" or "3d" for inputs of that many dims beside
  // those of the batch and of channels.
  BatchNormBase(const std::string& type_name, int dims, int64_t num_features,
                double eps, double momentum, bool affine,
                bool track_running_stats);
  Value forward(Value input);
  std::string extra_repr() const override;
  // In training calls update the running statistics.
  bool is_impure() const override {
    return training() && running_mean.defined();
  }

  const int64_t num_features;
  const double eps, momentum;
  Parameter weight, bias;
  Buffer running_mean, running_var, num_batches_tracked;

 protected:
  const int rank_;  // Of the input, batched.
};

// BatchNorm1d takes [N, C] or [N, C, L], BatchNorm2d [N, C, H, W], BatchNorm3d
// [N, C, D, H, W].
class BatchNorm1d : public Custom<BatchNorm1d, BatchNormBase> {
 public:
  explicit BatchNorm1d(int64_t num_features, double eps = 1e-5,
                       double momentum = 0.1, bool affine = true,
                       bool track_running_stats = true)
      : Custom("BatchNorm", 1, num_features, eps, momentum,
               affine, track_running_stats) {}
};

class BatchNorm2d : public Custom<BatchNorm2d, BatchNormBase> {
 public:
  explicit BatchNorm2d(int64_t num_features, double eps = 1e-5,
                       double momentum = 0.1, bool affine = true,
                       bool track_running_stats = true)
      : Custom("BatchNorm", 2, num_features, eps, momentum,
               affine, track_running_stats) {}
};

class BatchNorm3d : public Custom<BatchNorm3d, BatchNormBase> {
 public:
  explicit BatchNorm3d(int64_t num_features, double eps = 1e-5,
                       double momentum = 0.1, bool affine = true,
                       bool track_running_stats = true)
      : Custom("BatchNorm", 3, num_features, eps, momentum,
               affine, track_running_stats) {}
};

}  // namespace fxjit::nn
