// Losses as modules: each holds what it is given and calls the function of
// torch.nn.functional. `reduction` is "mean", "sum" or "none"; what it may be
// is checked by the function, ValueError. Weights are buffers, so that they
// are in the state dict.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fxjit/nn/layer.h"

namespace fxjit::nn {

// A loss of (input, target) by the function of that name, which gets settings
// and weights by their names; AttributeError for a weight that was removed.
class LossBase : public LeafModule {
 public:
  LossBase(std::string type_name, std::string function, Kwargs settings);
  Value forward(Value input, Value target);

 protected:
  // Registered, and undefined if the tensor is.
  Buffer add_weight(const char* name, const Tensor& tensor);

 private:
  std::string function_;
  Kwargs settings_;
  std::vector<std::string> weights_;
};

// Losses of (input, target) with a reduction and nothing else.
class MSELoss : public Custom<MSELoss, LossBase> {
 public:
  explicit MSELoss(std::string reduction = "mean")
      : Custom("MSELoss", "mse_loss", {{"reduction", reduction}}),
        reduction(std::move(reduction)) {}

  const std::string reduction;
};

class L1Loss : public Custom<L1Loss, LossBase> {
 public:
  explicit L1Loss(std::string reduction = "mean")
      : Custom("L1Loss", "l1_loss", {{"reduction", reduction}}),
        reduction(std::move(reduction)) {}

  const std::string reduction;
};

// Squares below `beta`, distances above.
class SmoothL1Loss : public Custom<SmoothL1Loss, LossBase> {
 public:
  explicit SmoothL1Loss(std::string reduction = "mean", double beta = 1)
      : Custom("SmoothL1Loss", "smooth_l1_loss",
               {{"reduction", reduction}, {"beta", beta}}),
        reduction(std::move(reduction)),
        beta(beta) {}

  const std::string reduction;
  const double beta;
};

class HuberLoss : public Custom<HuberLoss, LossBase> {
 public:
  explicit HuberLoss(std::string reduction = "mean", double delta = 1)
      : Custom("HuberLoss", "huber_loss",
               {{"reduction", reduction}, {"delta", delta}}),
        reduction(std::move(reduction)),
        delta(delta) {}

  const std::string reduction;
  const double delta;
};

// Takes scores [C], [N, C] or [N, C, ...]. Targets are class numbers, or
// probabilities of the shape of the scores. `weight` is [C] or undefined.
class CrossEntropyLoss : public Custom<CrossEntropyLoss, LossBase> {
 public:
  explicit CrossEntropyLoss(const Tensor& weight = {},
                            int64_t ignore_index = -100,
                            std::string reduction = "mean",
                            double label_smoothing = 0)
      : Custom("CrossEntropyLoss", "cross_entropy",
               {{"ignore_index", ignore_index},
                {"reduction", reduction},
                {"label_smoothing", label_smoothing}}),
        ignore_index(ignore_index),
        reduction(std::move(reduction)),
        label_smoothing(label_smoothing),
        weight(add_weight("weight", weight)) {}

  const int64_t ignore_index;
  const std::string reduction;
  const double label_smoothing;
  Buffer weight;
};

// Takes logarithms of probabilities, shaped as for CrossEntropyLoss.
class NLLLoss : public Custom<NLLLoss, LossBase> {
 public:
  explicit NLLLoss(const Tensor& weight = {}, int64_t ignore_index = -100,
                   std::string reduction = "mean")
      : Custom("NLLLoss", "nll_loss",
               {{"ignore_index", ignore_index}, {"reduction", reduction}}),
        ignore_index(ignore_index),
        reduction(std::move(reduction)),
        weight(add_weight("weight", weight)) {}

  const int64_t ignore_index;
  const std::string reduction;
  Buffer weight;
};

// Takes probabilities; `weight` broadcasts over them.
class BCELoss : public Custom<BCELoss, LossBase> {
 public:
  explicit BCELoss(const Tensor& weight = {}, std::string reduction = "mean")
      : Custom("BCELoss", "binary_cross_entropy", {{"reduction", reduction}}),
        reduction(std::move(reduction)),
        weight(add_weight("weight", weight)) {}

  const std::string reduction;
  Buffer weight;
};

// Takes scores; `pos_weight` weighs the targets of 1.
class BCEWithLogitsLoss : public Custom<BCEWithLogitsLoss, LossBase> {
 public:
  explicit BCEWithLogitsLoss(const Tensor& weight = {},
                             std::string reduction = "mean",
                             const Tensor& pos_weight = {})
      : Custom("BCEWithLogitsLoss", "binary_cross_entropy_with_logits",
               {{"reduction", reduction}}),
        reduction(std::move(reduction)),
        weight(add_weight("weight", weight)),
        pos_weight(add_weight("pos_weight", pos_weight)) {}

  const std::string reduction;
  Buffer weight, pos_weight;
};

// Takes logarithms of probabilities. Targets are probabilities, or their
// logarithms if `log_target`.
// `reduction` may be "batchmean" too: the sum by the first size.
class KLDivLoss : public Custom<KLDivLoss, LossBase> {
 public:
  explicit KLDivLoss(std::string reduction = "mean", bool log_target = false)
      : Custom("KLDivLoss", "kl_div",
               {{"reduction", reduction}, {"log_target", log_target}}),
        reduction(std::move(reduction)),
        log_target(log_target) {}

  const std::string reduction;
  const bool log_target;
};

// Targets are 1 or -1, [N].
class CosineEmbeddingLoss : public Layer<CosineEmbeddingLoss> {
 public:
  explicit CosineEmbeddingLoss(double margin = 0,
                               std::string reduction = "mean");
  Value forward(Value input1, Value input2, Value target);

  const double margin;
  const std::string reduction;
};

class TripletMarginLoss : public Layer<TripletMarginLoss> {
 public:
  explicit TripletMarginLoss(double margin = 1, double p = 2, double eps = 1e-6,
                             bool swap = false, std::string reduction = "mean");
  Value forward(Value anchor, Value positive, Value negative);

  const double margin, p, eps;
  const bool swap;
  const std::string reduction;
};

}  // namespace fxjit::nn
