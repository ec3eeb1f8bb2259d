// Steps of post-ops written as the body of an epilogue, as rows of the op table
// write them.
#pragma once

#include "fxjit/scalar_body.h"
#include "src/ops/eager/post_ops.h"

namespace fxjit::kernels::testing {

inline Scalar clamped(Scalar x, double low, double high) {
  ScalarBuilder& b = *x.builder;
  const Scalar above =
      b.apply(Prim::maximum, x, b.constant(low, DType::f32));
  return b.apply(Prim::minimum, above, b.constant(high, DType::f32));
}

inline Scalar post_body(const ops::PostOp& op, Scalar x) {
  using ops::PostKind;
  constexpr double kSixth = 1.0 / 6;
  ScalarBuilder& b = *x.builder;
  const Scalar zero = b.constant(0, DType::f32);
  const auto tensor = [&] { return b.input(op.tensor + 1, DType::f32); };
  switch (op.kind) {
    case PostKind::relu:
      return b.apply(Prim::maximum, x, zero);
    case PostKind::leaky_relu: {
      const Scalar scaled = x * op.a;
      return b.select(b.apply(Prim::gt, x, zero), x, scaled);
    }
    case PostKind::prelu: {
      const Scalar scaled = x * tensor();
      return op.a == 0 ? b.select(b.apply(Prim::gt, x, zero), x, scaled)
                       : b.select(b.apply(Prim::lt, x, zero), scaled, x);
    }
    case PostKind::clip:
      return clamped(x, op.a, op.b);
    case PostKind::hardsigmoid:
      return clamped(x + 3.0, 0, 6) * kSixth;
    case PostKind::hardswish:
      return x * clamped(x + 3.0, 0, 6) * kSixth;
    case PostKind::sigmoid:
      return b.apply(Prim::sigmoid, x);
    case PostKind::silu:
      return b.apply(Prim::silu, x);
    case PostKind::affine:
      return op.a == 1 ? x + op.b : x * op.a;
    case PostKind::add:
      return x + tensor();
    case PostKind::multiply:
      return x * tensor();
    case PostKind::gelu:
      return b.apply(Prim::gelu, x);
  }
  return x;
}

// Of affine steps either the factor or the addend alone.
inline ScalarBody post_body(const ops::PostOps& work) {
  ScalarBuilder builder;
  Scalar value = builder.input(0, DType::f32);
  for (const ops::PostOp& op : work) value = post_body(op, value);
  return builder.finish({value});
}

}  // namespace fxjit::kernels::testing
