// Losses as modules: each holds what it is given and calls the function of
// torch.nn.functional. `reduction` is "mean", "sum" or "none"; what it may be
// is checked by the function, ValueError. Weights are buffers, so that they
// are in the state dict.
#pragma once

#include <cstdint>
#include <string>

#include "fxjit/nn/layer.h"

namespace fxjit::nn {

// Losses of (input, target) with a reduction and nothing else.
class MSELoss : public Layer<MSELoss> {
 public:
  explicit MSELoss(std::string reduction = "mean");
  Value forward(Value input, Value target);

  const std::string reduction;
};

class L1Loss : public Layer<L1Loss> {
 public:
  explicit L1Loss(std::string reduction = "mean");
  Value forward(Value input, Value target);

  const std::string reduction;
};

// Squares below `beta`, distances above.
class SmoothL1Loss : public Layer<SmoothL1Loss> {
 public:
  explicit SmoothL1Loss(std::string reduction = "mean", double beta = 1);
  Value forward(Value input, Value target);

  const std::string reduction;
  const double beta;
};

class HuberLoss : public Layer<HuberLoss> {
 public:
  explicit HuberLoss(std::string reduction = "mean", double delta = 1);
  Value forward(Value input, Value target);

  const std::string reduction;
  const double delta;
};

// Takes scores [C], [N, C] or [N, C, ...]. Targets are class numbers, or
// probabilities of the shape of the scores. `weight` is [C] or undefined.
class CrossEntropyLoss : public Layer<CrossEntropyLoss> {
 public:
  explicit CrossEntropyLoss(const Tensor& weight = {},
                            int64_t ignore_index = -100,
                            std::string reduction = "mean",
                            double label_smoothing = 0);
  Value forward(Value input, Value target);

  const int64_t ignore_index;
  const std::string reduction;
  const double label_smoothing;
  Buffer weight;
};

// Takes logarithms of probabilities, shaped as for CrossEntropyLoss.
class NLLLoss : public Layer<NLLLoss> {
 public:
  explicit NLLLoss(const Tensor& weight = {}, int64_t ignore_index = -100,
                   std::string reduction = "mean");
  Value forward(Value input, Value target);

  const int64_t ignore_index;
  const std::string reduction;
  Buffer weight;
};

// Takes probabilities; `weight` broadcasts over them.
class BCELoss : public Layer<BCELoss> {
 public:
  explicit BCELoss(const Tensor& weight = {}, std::string reduction = "mean");
  Value forward(Value input, Value target);

  const std::string reduction;
  Buffer weight;
};

// Takes scores; `pos_weight` weighs the targets of 1.
class BCEWithLogitsLoss : public Layer<BCEWithLogitsLoss> {
 public:
  explicit BCEWithLogitsLoss(const Tensor& weight = {},
                             std::string reduction = "mean",
                             const Tensor& pos_weight = {});
  Value forward(Value input, Value target);

  const std::string reduction;
  Buffer weight, pos_weight;
};

// Takes logarithms of probabilities. Targets are probabilities, or their
// logarithms if `log_target`.
// `reduction` may be "batchmean" too: the sum by the first size.
class KLDivLoss : public Layer<KLDivLoss> {
 public:
  explicit KLDivLoss(std::string reduction = "mean", bool log_target = false);
  Value forward(Value input, Value target);

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
