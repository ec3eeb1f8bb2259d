#include "fxjit/nn/losses.h"

#include "fxjit/functions.h"

namespace fxjit::nn {

LossBase::LossBase(std::string type_name, std::string function, Kwargs settings)
    : LeafModule(std::move(type_name), Signature({"input", "target"})),
      function_("torch.nn.functional." + function),
      settings_(std::move(settings)) {}

Value LossBase::forward(Value input, Value target) {
  Kwargs kwargs = settings_;
  for (const std::string& name : weights_)
    kwargs.emplace_back(name, param(name));
  return function(function_, {input, target}, std::move(kwargs));
}

Buffer LossBase::add_weight(const char* name, const Tensor& tensor) {
  weights_.emplace_back(name);
  return register_buffer(name, tensor.defined() ? Buffer(tensor) : Buffer());
}

CosineEmbeddingLoss::CosineEmbeddingLoss(double margin, std::string reduction)
    : Custom("CosineEmbeddingLoss", {"input1", "input2", "target"}),
      margin(margin),
      reduction(std::move(reduction)) {}
Value CosineEmbeddingLoss::forward(Value input1, Value input2, Value target) {
  return function("torch.nn.functional.cosine_embedding_loss",
                  {input1, input2, target},
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
  return function("torch.nn.functional.triplet_margin_loss",
                  {anchor, positive, negative},
                  {{"margin", margin},
                   {"p", p},
                   {"eps", eps},
                   {"swap", swap},
                   {"reduction", reduction}});
}

}  // namespace fxjit::nn
