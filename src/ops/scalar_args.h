// What the scalar functions of op rows need to reach their arguments: a tensor
// argument is one of the inputs, a number becomes a constant.
#pragma once

#include <span>

#include "fxjit/op.h"

namespace fxjit::ops {

class ScalarArgs {
 public:
  ScalarArgs(ScalarBuilder& builder, const OpCall& call,
             std::span<const Scalar> inputs)
      : builder_(builder), call_(call), inputs_(inputs) {}

  // Argument `i` in the type that the tensor inputs have.
  Scalar operator[](size_t i) const { return get(i, inputs_[0].type()); }
  // Argument `i` in `type`.
  Scalar get(size_t i, DType type) const;

 private:
  ScalarBuilder& builder_;
  const OpCall& call_;
  std::span<const Scalar> inputs_;
};

}  // namespace fxjit::ops
