// Parameter and Buffer: handles to tensors that belong to modules. Copies of a
// handle share the tensor, so a weight may be registered in several modules
// (tied weights). Reading a parameter inside a module's forward gives its
// tensor, or, while the module is traced, a get_attr proxy.
#pragma once

#include <memory>

#include "fxjit/nn/deep_copy.h"
#include "fxjit/tensor.h"
#include "fxjit/value.h"

namespace fxjit::nn {

// What handles share. Its address is the identity of a parameter.
struct TensorSlot {
  Value value;  // The tensor, ready to be handed out.
  bool is_parameter = true;
  bool requires_grad = true;
  bool persistent = true;  // Part of the state dict.
};

class Parameter {
 public:
  Parameter() = default;  // Undefined: reads as none (a missing bias).
  explicit Parameter(const Tensor& tensor, bool requires_grad = true);
  // A handle to the same tensor, or to its copy (see deep_copy.h).
  Parameter(const Parameter& other)
      : slot_(DeepCopy::active() ? DeepCopy::active()->slot(other.slot_)
                                 : other.slot_) {}
  Parameter(Parameter&&) noexcept = default;
  Parameter& operator=(const Parameter&) = default;
  Parameter& operator=(Parameter&&) noexcept = default;

  bool defined() const { return slot_ != nullptr; }
  // The real tensor, also while tracing.
  const Tensor& tensor() const;
  const Dims& sizes() const { return tensor().sizes(); }
  DType dtype() const { return tensor().dtype(); }
  // Replaces the tensor for all handles. Not beside running calls.
  void set_tensor(const Tensor& tensor) const;
  // As user code sees it. While tracing, `value` records the get_attr node at
  // once; the conversion leaves that to the first use, so that nodes of
  // `linear(x, weight, bias)` do not depend on C++'s order of evaluation.
  Value value() const;
  operator Value() const;  // NOLINT: reads like a tensor

  const TensorSlot* slot() const { return slot_.get(); }
  friend bool operator==(const Parameter& a, const Parameter& b) {
    return a.slot_ == b.slot_;
  }

 protected:
  std::shared_ptr<TensorSlot> slot_;  // Shared: weights may be tied.
};

// A tensor that is state but not trained (running statistics, masks). Traced
// only when Tracer::proxy_buffer_attributes says so.
class Buffer : public Parameter {
 public:
  Buffer() = default;
  explicit Buffer(const Tensor& tensor, bool persistent = true);
};

}  // namespace fxjit::nn
