// Type promotion of a call's arguments, as torch.result_type: tensors with
// dimensions first, then 0-d tensors, then Python numbers; a lower class only
// matters when its category (bool < int < float) is higher.
#pragma once

#include <optional>

#include "fxjit/op.h"

namespace fxjit::ops {

class Promotion {
 public:
  void add(const Value& value);  // A tensor or a number; others are ignored.
  void add(const Tensor& tensor);
  // Nothing when no argument took part.
  std::optional<DType> result() const;

 private:
  std::optional<DType> dimensioned_, zero_dim_, number_;
};

// What an elementwise call computes: shape and dtype of the result, and the
// type to which inputs are cast first (unless ScalarTypes::custom).
struct ScalarTyping {
  Dims sizes;
  DType inputs = DType::f32;
  DType result = DType::f32;
};

// By the row's ScalarTypes. Number arguments take part unless their parameter
// has a number as default (slopes, factors). Needs a tensor argument.
ScalarTyping scalar_typing(const OpCall& call);
// The same under another rule than the row's, for rows with custom types.
ScalarTyping scalar_typing(const OpCall& call, ScalarTypes types);

// Shape rule of rows without one: a contiguous result, or the first argument
// when the call writes it.
Value infer_scalar(const OpCall& call);
Value infer_scalar(const OpCall& call, const ScalarTyping& typing);

}  // namespace fxjit::ops
