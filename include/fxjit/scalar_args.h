// The arguments of an elementwise op as scalars: a tensor argument is one of
// the inputs of its body, a number becomes a constant. For bodies of rows whose
// parameters may be either, here or in `ops::register_ops` from outside:
//
//   Scalar hypot2(ScalarBuilder& b, const OpCall& call,
//                 std::span<const Scalar> in) {
//     const ScalarArgs args(b, call, in);
//     return args[0] * args[0] + args[1] * args[1];
//   }
#pragma once

#include <span>

#include "fxjit/op.h"

namespace fxjit::ops {

// Refers to what it was made from, for as long as the body is built.
class ScalarArgs {
 public:
  ScalarArgs(ScalarBuilder& builder, const OpCall& call,
             std::span<const Scalar> inputs)
      : builder_(builder), call_(call), inputs_(inputs) {}

  // Argument `i`, counted as in the schema, in the type that the tensor inputs
  // have. TypeError when it is neither a tensor nor a number.
  Scalar operator[](size_t i) const { return get(i, inputs_[0].type()); }
  // Argument `i` in `type`.
  Scalar get(size_t i, DType type) const;

 private:
  ScalarBuilder& builder_;
  const OpCall& call_;
  std::span<const Scalar> inputs_;
};

}  // namespace fxjit::ops
