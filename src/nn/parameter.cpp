#include "fxjit/nn/parameter.h"

#include "fxjit/fx/tracer.h"

namespace fxjit::nn {

Parameter::Parameter(const Tensor& tensor, bool requires_grad)
    : slot_(std::make_shared<TensorSlot>()) {
  slot_->value = Value(tensor);
  slot_->requires_grad = requires_grad;
}

const Tensor& Parameter::tensor() const {
  if (!slot_) throw AttributeError("[parameter] tensor: it is not defined");
  return slot_->value.as_tensor();
}

void Parameter::set_tensor(const Tensor& tensor) const {
  if (!slot_) throw AttributeError("[parameter] tensor: it is not defined");
  slot_->value = Value(tensor);
}

Value Parameter::value() const {
  if (!slot_) return None;
  if (fx::Tracer* tracer = fx::active_tracer())
    return fx::force_node(tracer->read_parameter(*this));
  return slot_->value;
}

Parameter::operator Value() const {
  if (!slot_) return None;
  if (fx::Tracer* tracer = fx::active_tracer())
    return tracer->read_parameter(*this);
  return slot_->value;
}

Buffer::Buffer(const Tensor& tensor, bool persistent)
    : Parameter(tensor, /*requires_grad=*/false) {
  slot_->is_parameter = false;
  slot_->persistent = persistent;
}

}  // namespace fxjit::nn
