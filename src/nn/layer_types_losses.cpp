// The rows of losses.
#include "src/nn/layer_rows.h"
#include "src/nn/layer_types.h"

namespace fxjit::nn {
namespace {

// A tensor that the constructor is given and keeps as the buffer `at`: its
// sizes, or none. The numbers are state.
template <typename T>
struct Weight {
  const char* name;
  Buffer T::* at;

  Value of(const T& layer) const {
    const Buffer& buffer = layer.*at;
    return buffer.defined() ? size_tuple(buffer.sizes()) : Value();
  }
  Tensor read(Args& args, std::type_identity<T>) const {
    return args.none(name) ? Tensor() : Tensor::zeros(args.dims(name));
  }
};

template <typename T>
Weight<T> weight_field(const char* name, Buffer T::* at) {
  return {name, at};
}

template <typename T, typename... Fields>
ModuleType reducing(const char* name, Fields... more) {
  return layer<T>(name, field("reduction", &T::reduction), more...);
}

void add_class_losses(std::vector<ModuleType>& types) {
  types.push_back(layer<CrossEntropyLoss>(
      "CrossEntropyLoss", weight_field("weight", &CrossEntropyLoss::weight),
      field("ignore_index", &CrossEntropyLoss::ignore_index),
      field("reduction", &CrossEntropyLoss::reduction),
      field("label_smoothing", &CrossEntropyLoss::label_smoothing)));
  types.push_back(layer<NLLLoss>(
      "NLLLoss", weight_field("weight", &NLLLoss::weight),
      field("ignore_index", &NLLLoss::ignore_index),
      field("reduction", &NLLLoss::reduction)));
  types.push_back(
      layer<BCELoss>("BCELoss", weight_field("weight", &BCELoss::weight),
                     field("reduction", &BCELoss::reduction)));
  types.push_back(with_state<BCEWithLogitsLoss>(
      layer<BCEWithLogitsLoss>(
          "BCEWithLogitsLoss",
          weight_field("weight", &BCEWithLogitsLoss::weight),
          field("reduction", &BCEWithLogitsLoss::reduction),
          weight_field("pos_weight", &BCEWithLogitsLoss::pos_weight)),
      std::pair("pos_weight", &BCEWithLogitsLoss::pos_weight)));
}

}  // namespace

void add_loss_types(std::vector<ModuleType>& types) {
  types.push_back(reducing<MSELoss>("MSELoss"));
  types.push_back(reducing<L1Loss>("L1Loss"));
  types.push_back(reducing<SmoothL1Loss>("SmoothL1Loss",
                                         field("beta", &SmoothL1Loss::beta)));
  types.push_back(
      reducing<HuberLoss>("HuberLoss", field("delta", &HuberLoss::delta)));
  types.push_back(reducing<KLDivLoss>(
      "KLDivLoss", field("log_target", &KLDivLoss::log_target)));
  types.push_back(layer<CosineEmbeddingLoss>(
      "CosineEmbeddingLoss", field("margin", &CosineEmbeddingLoss::margin),
      field("reduction", &CosineEmbeddingLoss::reduction)));
  types.push_back(layer<TripletMarginLoss>(
      "TripletMarginLoss", field("margin", &TripletMarginLoss::margin),
      field("p", &TripletMarginLoss::p), field("eps", &TripletMarginLoss::eps),
      field("swap", &TripletMarginLoss::swap),
      field("reduction", &TripletMarginLoss::reduction)));
  add_class_losses(types);
}

}  // namespace fxjit::nn
