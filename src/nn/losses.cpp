#include "fxjit/nn/losses.h"

#include "fxjit/functions.h"

namespace fxjit::nn {
namespace {

Value loss(const char* name, ValueList args, Kwargs kwargs) {
  return function(std::string("torch.nn.functional.") + name, std::move(args),
                  std::move(kwargs));
}

Signature of_target() { return Signature({"input", "target"}); }

Buffer buffer(const Tensor& tensor) {
  return tensor.defined() ? Buffer(tensor) : Buffer();
}

}  // namespace

MSELoss::MSELoss(std::string reduction)
    : Custom("MSELoss", of_target()), reduction(std::move(reduction)) {}
Value MSELoss::forward(Value input, Value target) {
  return loss("mse_loss", {input, target}, {{"reduction", reduction}});
}

L1Loss::L1Loss(std::string reduction)
    : Custom("L1Loss", of_target()), reduction(std::move(reduction)) {}
Value L1Loss::forward(Value input, Value target) {
  return loss("l1_loss", {input, target}, {{"reduction", reduction}});
}

SmoothL1Loss::SmoothL1Loss(std::string reduction, double beta)
    : Custom("SmoothL1Loss", of_target()),
      reduction(std::move(reduction)),
      beta(beta) {}
Value SmoothL1Loss::forward(Value input, Value target) {
  return loss("smooth_l1_loss", {input, target},
              {{"reduction", reduction}, {"beta", beta}});
}

HuberLoss::HuberLoss(std::string reduction, double delta)
    : Custom("HuberLoss", of_target()),
      reduction(std::move(reduction)),
      delta(delta) {}
Value HuberLoss::forward(Value input, Value target) {
  return loss("huber_loss", {input, target},
              {{"reduction", reduction}, {"delta", delta}});
}

CrossEntropyLoss::CrossEntropyLoss(const Tensor& weight, int64_t ignore_index,
                                   std::string reduction,
                                   double label_smoothing)
    : Custom("CrossEntropyLoss", of_target()),
      ignore_index(ignore_index),
      reduction(std::move(reduction)),
      label_smoothing(label_smoothing),
      weight(register_buffer("weight", buffer(weight))) {}
Value CrossEntropyLoss::forward(Value input, Value target) {
  return loss("cross_entropy", {input, target},
              {{"weight", weight},
               {"ignore_index", ignore_index},
               {"reduction", reduction},
               {"label_smoothing", label_smoothing}});
}

NLLLoss::NLLLoss(const Tensor& weight, int64_t ignore_index,
                 std::string reduction)
    : Custom("NLLLoss", of_target()),
      ignore_index(ignore_index),
      reduction(std::move(reduction)),
      weight(register_buffer("weight", buffer(weight))) {}
Value NLLLoss::forward(Value input, Value target) {
  return loss("nll_loss", {input, target},
              {{"weight", weight},
               {"ignore_index", ignore_index},
               {"reduction", reduction}});
}

BCELoss::BCELoss(const Tensor& weight, std::string reduction)
    : Custom("BCELoss", of_target()),
      reduction(std::move(reduction)),
      weight(register_buffer("weight", buffer(weight))) {}
Value BCELoss::forward(Value input, Value target) {
  return loss("binary_cross_entropy", {input, target},
              {{"weight", weight}, {"reduction", reduction}});
}

BCEWithLogitsLoss::BCEWithLogitsLoss(const Tensor& weight,
                                     std::string reduction,
                                     const Tensor& pos_weight)
    : Custom("BCEWithLogitsLoss", of_target()),
      reduction(std::move(reduction)),
      weight(register_buffer("weight", buffer(weight))),
      pos_weight(register_buffer("pos_weight", buffer(pos_weight))) {}
Value BCEWithLogitsLoss::forward(Value input, Value target) {
  return loss("binary_cross_entropy_with_logits", {input, target},
              {{"weight", weight},
               {"pos_weight", pos_weight},
               {"reduction", reduction}});
}

KLDivLoss::KLDivLoss(std::string reduction, bool log_target)
    : Custom("KLDivLoss", of_target()),
      reduction(std::move(reduction)),
      log_target(log_target) {}
Value KLDivLoss::forward(Value input, Value target) {
  return loss("kl_div", {input, target},
              {{"reduction", reduction}, {"log_target", log_target}});
}

CosineEmbeddingLoss::CosineEmbeddingLoss(double margin, std::string reduction)
    : Custom("CosineEmbeddingLoss", {"input1", "input2", "target"}),
      margin(margin),
      reduction(std::move(reduction)) {}
Value CosineEmbeddingLoss::forward(Value input1, Value input2, Value target) {
  return loss("cosine_embedding_loss", {input1, input2, target},
              {{"margin", margin}, {"reduction", reduction}});
}

TripletMarginLoss::TripletMarginLoss(double margin, double p, double eps,
                                     bool swap, std::string reduction)
    : Custom("TripletMarginLoss", {"anchor", "positive", "negative"}),
      margin(margin),
      p(p),
      eps(eps),
      swap(swap),
      reduction(std::move(reduction)) {}
Value TripletMarginLoss::forward(Value anchor, Value positive, Value negative) {
  return loss("triplet_margin_loss", {anchor, positive, negative},
              {{"margin", margin},
               {"p", p},
               {"eps", eps},
               {"swap", swap},
               {"reduction", reduction}});
}

}  // namespace fxjit::nn
