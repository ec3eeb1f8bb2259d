// Layers of one function and at most two numbers: the rest of torch.nn's
// activations, windows, distances and what is normalised by neighbours.
#pragma once

#include <cstdint>
#include <string>

#include "fxjit/nn/layer.h"

namespace fxjit::nn {

struct LogSigmoid
    : TorchLayer<LogSigmoid, "LogSigmoid", "torch.nn.functional.logsigmoid"> {};
struct Softsign : TorchLayer<Softsign, "Softsign", "F.softsign"> {};
struct Tanhshrink : TorchLayer<Tanhshrink, "Tanhshrink", "F.tanhshrink"> {};
struct SELU : TorchLayer<SELU, "SELU", "F.selu"> {};

struct CELU : TorchLayer<CELU, "CELU", "F.celu"> {
  using TorchLayer::TorchLayer;
  explicit CELU(double alpha = 1.0) : TorchLayer(LayerArgs::of({alpha})) {}
  const double alpha = field("alpha");
};

// Zero between -lambd and lambd, the input elsewhere.
struct Hardshrink
    : TorchLayer<Hardshrink, "Hardshrink", "torch.nn.functional.hardshrink"> {
  using TorchLayer::TorchLayer;
  explicit Hardshrink(double lambd = 0.5)
      : TorchLayer(LayerArgs::of({lambd})) {}
  const double lambd = field("lambd", Shown::bare);
};

// The input moved towards zero by lambd.
struct Softshrink
    : TorchLayer<Softshrink, "Softshrink", "torch.nn.functional.softshrink"> {
  using TorchLayer::TorchLayer;
  explicit Softshrink(double lambd = 0.5)
      : TorchLayer(LayerArgs::of({lambd})) {}
  const double lambd = field("lambd", Shown::bare);
};

// `value` where the input is not above `threshold`.
struct Threshold
    : TorchLayer<Threshold, "Threshold", "torch.nn.functional._threshold"> {
  using TorchLayer::TorchLayer;
  Threshold(double threshold, double value)
      : TorchLayer(LayerArgs::of({threshold, value})) {}
  const double threshold = field("threshold"), value = field("value");
};

// Softmax of the negative input.
struct Softmin : OwnLayer<Softmin, "Softmin"> {
  using TorchLayer::TorchLayer;
  explicit Softmin(int64_t dim) : TorchLayer(LayerArgs::of({dim})) {}
  Value forward(Value input);
  const int64_t dim = field("dim");
};

// Turns the windows of [N, C, H, W] or [C, H, W] into columns
// [N, C * window, count].
struct Unfold : TorchLayer<Unfold, "Unfold", "torch.nn.functional.unfold"> {
  using TorchLayer::TorchLayer;
  explicit Unfold(Value kernel_size, Value dilation = 1, Value padding = 0,
                  Value stride = 1)
      : TorchLayer(LayerArgs::of({kernel_size, dilation, padding, stride})) {}
  const Value kernel_size = field("kernel_size"), dilation = field("dilation"),
              padding = field("padding"), stride = field("stride");
};

// Sums columns back into an image of `output_size`.
struct Fold : TorchLayer<Fold, "Fold", "torch.nn.functional.fold"> {
  using TorchLayer::TorchLayer;
  Fold(Value output_size, Value kernel_size, Value dilation = 1,
       Value padding = 0, Value stride = 1)
      : TorchLayer(LayerArgs::of(
            {output_size, kernel_size, dilation, padding, stride})) {}
  const Value output_size = field("output_size"),
              kernel_size = field("kernel_size"), dilation = field("dilation"),
              padding = field("padding"), stride = field("stride");
};

struct ChannelShuffle
    : TorchLayer<ChannelShuffle, "ChannelShuffle", "torch.channel_shuffle"> {
  using TorchLayer::TorchLayer;
  explicit ChannelShuffle(int64_t groups)
      : TorchLayer(LayerArgs::of({groups})) {}
  const int64_t groups = field("groups");
};

// Each channel over a power of the mean square of its `size` neighbours.
struct LocalResponseNorm
    : TorchLayer<LocalResponseNorm, "LocalResponseNorm",
                 "torch.nn.functional.local_response_norm"> {
  using TorchLayer::TorchLayer;
  explicit LocalResponseNorm(int64_t size, double alpha = 1e-4,
                             double beta = 0.75, double k = 1.0)
      : TorchLayer(LayerArgs::of({size, alpha, beta, k})) {}
  const int64_t size = field("size", Shown::bare);
  const double alpha = field("alpha"), beta = field("beta"), k = field("k");
};

struct CosineSimilarity : TorchLayer<CosineSimilarity, "CosineSimilarity",
                                     "torch.cosine_similarity", "x1 x2"> {
  using TorchLayer::TorchLayer;
  explicit CosineSimilarity(int64_t dim = 1, double eps = 1e-8)
      : TorchLayer(LayerArgs::of({dim, eps})) {}
  Value forward(Value x1, Value x2) { return run({x1, x2}); }
  const int64_t dim = field("dim", Shown::hidden);
  const double eps = field("eps", Shown::hidden);
};

struct PairwiseDistance : TorchLayer<PairwiseDistance, "PairwiseDistance",
                                     "torch.pairwise_distance", "x1 x2"> {
  using TorchLayer::TorchLayer;
  explicit PairwiseDistance(double p = 2.0, double eps = 1e-6,
                            bool keepdim = false)
      : TorchLayer(LayerArgs::of({p, eps, keepdim})) {}
  Value forward(Value x1, Value x2) { return run({x1, x2}); }
  const double p = field("p", Shown::hidden), eps = field("eps", Shown::hidden);
  const bool keepdim = field("keepdim", Shown::hidden);
};

using PointwiseLayers =
    LayerList<LogSigmoid, Softsign, Tanhshrink, SELU, CELU, Hardshrink,
              Softshrink, Threshold, Softmin, Unfold, Fold, ChannelShuffle,
              LocalResponseNorm, CosineSimilarity, PairwiseDistance>;

}  // namespace fxjit::nn
