// Losses as modules: each holds what it is given and calls the function of
// torch.nn.functional. `reduction` is "mean", "sum" or "none"; what it may be
// is checked by the function, ValueError. Weights are buffers, so that they
// are in the state dict.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fxjit/nn/layer.h"

namespace fxjit::nn {

// A loss by the function of its class, which gets fields and weights by their
// names; AttributeError for a weight that was removed.
class LossBase : public FunctionLayer {
 public:
  using FunctionLayer::FunctionLayer;
  Value forward(Value input, Value target);
  std::string extra_repr() const override { return {}; }

 protected:
  Value run(const ValueList& inputs) const;
  // The next argument, a tensor or none, for the member `at`.
  template <typename T>
  Buffer weight_field(const char* name, Buffer T::* at) {
    keep(name, at);
    return add_weight(name);
  }

 private:
  Buffer add_weight(const char* name);

  std::vector<std::string> weights_;
};

template <typename T, Text name, Text function, Text inputs = "input target">
using Loss = TorchLayer<T, name, function, inputs, LossBase>;

// Losses of (input, target) with a reduction and nothing else.
struct MSELoss : Loss<MSELoss, "MSELoss", "torch.nn.functional.mse_loss"> {
  using TorchLayer::TorchLayer;
  explicit MSELoss(std::string reduction = "mean")
      : TorchLayer(LayerArgs::of({reduction})) {}
  const std::string reduction = field("reduction");
};

struct L1Loss : Loss<L1Loss, "L1Loss", "torch.nn.functional.l1_loss"> {
  using TorchLayer::TorchLayer;
  explicit L1Loss(std::string reduction = "mean")
      : TorchLayer(LayerArgs::of({reduction})) {}
  const std::string reduction = field("reduction");
};

// Squares below `beta`, distances above.
struct SmoothL1Loss
    : Loss<SmoothL1Loss, "SmoothL1Loss", "torch.nn.functional.smooth_l1_loss"> {
  using TorchLayer::TorchLayer;
  explicit SmoothL1Loss(std::string reduction = "mean", double beta = 1)
      : TorchLayer(LayerArgs::of({reduction, beta})) {}
  const std::string reduction = field("reduction");
  const double beta = field("beta");
};

struct HuberLoss
    : Loss<HuberLoss, "HuberLoss", "torch.nn.functional.huber_loss"> {
  using TorchLayer::TorchLayer;
  explicit HuberLoss(std::string reduction = "mean", double delta = 1)
      : TorchLayer(LayerArgs::of({reduction, delta})) {}
  const std::string reduction = field("reduction");
  const double delta = field("delta");
};

// Takes scores [C], [N, C] or [N, C, ...]. Targets are class numbers, or
// probabilities of the shape of the scores. `weight` is [C] or undefined.
struct CrossEntropyLoss : Loss<CrossEntropyLoss, "CrossEntropyLoss",
                               "torch.nn.functional.cross_entropy"> {
  using TorchLayer::TorchLayer;
  explicit CrossEntropyLoss(const Tensor& weight = {},
                            int64_t ignore_index = -100,
                            std::string reduction = "mean",
                            double label_smoothing = 0)
      : TorchLayer(
            LayerArgs::of({weight, ignore_index, reduction, label_smoothing})) {
  }
  Buffer weight = weight_field("weight", &CrossEntropyLoss::weight);
  const int64_t ignore_index = field("ignore_index");
  const std::string reduction = field("reduction");
  const double label_smoothing = field("label_smoothing");
};

// Takes logarithms of probabilities, shaped as for CrossEntropyLoss.
struct NLLLoss : Loss<NLLLoss, "NLLLoss", "torch.nn.functional.nll_loss"> {
  using TorchLayer::TorchLayer;
  explicit NLLLoss(const Tensor& weight = {}, int64_t ignore_index = -100,
                   std::string reduction = "mean")
      : TorchLayer(LayerArgs::of({weight, ignore_index, reduction})) {}
  Buffer weight = weight_field("weight", &NLLLoss::weight);
  const int64_t ignore_index = field("ignore_index");
  const std::string reduction = field("reduction");
};

// Takes probabilities; `weight` broadcasts over them.
struct BCELoss
    : Loss<BCELoss, "BCELoss", "torch.nn.functional.binary_cross_entropy"> {
  using TorchLayer::TorchLayer;
  explicit BCELoss(const Tensor& weight = {}, std::string reduction = "mean")
      : TorchLayer(LayerArgs::of({weight, reduction})) {}
  Buffer weight = weight_field("weight", &BCELoss::weight);
  const std::string reduction = field("reduction");
};

// Takes scores; `pos_weight` weighs the targets of 1.
struct BCEWithLogitsLoss
    : Loss<BCEWithLogitsLoss, "BCEWithLogitsLoss",
           "torch.nn.functional.binary_cross_entropy_with_logits"> {
  using TorchLayer::TorchLayer;
  explicit BCEWithLogitsLoss(const Tensor& weight = {},
                             std::string reduction = "mean",
                             const Tensor& pos_weight = {})
      : TorchLayer(LayerArgs::of({weight, reduction, pos_weight})) {}
  Buffer weight = weight_field("weight", &BCEWithLogitsLoss::weight);
  const std::string reduction = field("reduction");
  Buffer pos_weight =
      weight_field("pos_weight", &BCEWithLogitsLoss::pos_weight);
};

// Takes logarithms of probabilities. Targets are probabilities, or their
// logarithms if `log_target`.
// `reduction` may be "batchmean" too: the sum by the first size.
struct KLDivLoss : Loss<KLDivLoss, "KLDivLoss", "torch.nn.functional.kl_div"> {
  using TorchLayer::TorchLayer;
  explicit KLDivLoss(std::string reduction = "mean", bool log_target = false)
      : TorchLayer(LayerArgs::of({reduction, log_target})) {}
  const std::string reduction = field("reduction");
  const bool log_target = field("log_target");
};

// Targets are 1 or -1, [N].
struct CosineEmbeddingLoss : Loss<CosineEmbeddingLoss, "CosineEmbeddingLoss",
                                  "torch.nn.functional.cosine_embedding_loss",
                                  "input1 input2 target"> {
  using TorchLayer::TorchLayer;
  explicit CosineEmbeddingLoss(double margin = 0,
                               std::string reduction = "mean")
      : TorchLayer(LayerArgs::of({margin, reduction})) {}
  Value forward(Value input1, Value input2, Value target) {
    return run({input1, input2, target});
  }
  const double margin = field("margin");
  const std::string reduction = field("reduction");
};

struct TripletMarginLoss : Loss<TripletMarginLoss, "TripletMarginLoss",
                                "torch.nn.functional.triplet_margin_loss",
                                "anchor positive negative"> {
  using TorchLayer::TorchLayer;
  explicit TripletMarginLoss(double margin = 1, double p = 2, double eps = 1e-6,
                             bool swap = false, std::string reduction = "mean")
      : TorchLayer(LayerArgs::of({margin, p, eps, swap, reduction})) {}
  Value forward(Value anchor, Value positive, Value negative) {
    return run({anchor, positive, negative});
  }
  const double margin = field("margin"), p = field("p"), eps = field("eps");
  const bool swap = field("swap");
  const std::string reduction = field("reduction");
};

using LossLayers =
    LayerList<MSELoss, L1Loss, SmoothL1Loss, HuberLoss, CrossEntropyLoss,
              NLLLoss, BCELoss, BCEWithLogitsLoss, KLDivLoss,
              CosineEmbeddingLoss, TripletMarginLoss>;

}  // namespace fxjit::nn
