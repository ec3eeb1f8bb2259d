// Building blocks of elementwise rows: scalar functions for a single primitive
// and constexpr makers of rows. Only files of this folder include it.
#pragma once

#include <span>

#include "fxjit/op.h"
#include "fxjit/scalar_args.h"
#include "src/ops/families/shared/structured.h"

namespace fxjit::ops {

using Inputs = std::span<const Scalar>;

// The results of functions of real numbers: integers become f32.
inline constexpr ScalarTypes kFloat = ScalarTypes::promote_float;

template <Prim kPrim>
Scalar unary(ScalarBuilder& b, const OpCall&, Inputs in) {
  return b.apply(kPrim, in[0]);
}

template <Prim kPrim>
Scalar binary(ScalarBuilder& b, const OpCall& call, Inputs in) {
  const ScalarArgs args(b, call, in);
  return b.apply(kPrim, args[0], args[1]);
}

inline Scalar identity(ScalarBuilder&, const OpCall&, Inputs in) {
  return in[0];
}

// Refuses integers where PyTorch has no integer kernel: `kernel` is its name.
inline void require_floating(Scalar input, const char* kernel) {
  if (!is_floating(input.type())) no_kernel(kernel, input.type());
}

constexpr OpRow scalar_row(const char* name, const char* schema,
                           const char* names, ScalarFn scalar,
                           ScalarTypes types = ScalarTypes::promote) {
  return {.name = name,
          .schema = schema,
          .names = names,
          .lowering = Lowering::scalar,
          .scalar = scalar,
          .scalar_types = types};
}

// Rows whose inputs arrive as they are.
constexpr OpRow custom_row(const char* name, const char* schema,
                           const char* names, InferFn infer, ScalarFn scalar,
                           Purity purity = Purity::pure) {
  return {.name = name,
          .schema = schema,
          .names = names,
          .lowering = Lowering::scalar,
          .infer = infer,
          .scalar = scalar,
          .scalar_types = ScalarTypes::custom,
          .purity = purity};
}

constexpr OpRow unary_row(const char* name, const char* names, ScalarFn scalar,
                          ScalarTypes types = ScalarTypes::promote) {
  return scalar_row(name, "input", names, scalar, types);
}

constexpr OpRow binary_row(const char* name, const char* names, ScalarFn scalar,
                           ScalarTypes types = ScalarTypes::promote) {
  return scalar_row(name, "input, other", names, scalar, types);
}

// The method with a trailing underscore: same scalar body, written back to the
// first argument.
constexpr OpRow in_place(OpRow row, const char* name, const char* names) {
  row.name = name;
  row.names = names;
  row.purity = Purity::mutates;
  row.facts = {.numbers = row.facts.numbers};
  return row;
}

}  // namespace fxjit::ops
