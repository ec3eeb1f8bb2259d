// Rows of functions that are computed element by element in double precision,
// by C++ functions of one or two numbers. Compiled programs call the same
// loops.
#pragma once

#include "src/ops/families/structured.h"
#include "src/ops/table/promote.h"

namespace fxjit::ops {

template <double (*kFunction)(double)>
void direct_function(const OpCall& call, std::span<const Tensor> results) {
  const Tensor& out = results[0];
  const Tensor input = call.tensor(0).to(out.dtype()).contiguous();
  const Tensor whole =
      out.is_contiguous() ? out : Tensor::empty(out.sizes(), out.dtype());
  visit_dtype(out.dtype(), [&](auto type) {
    using T = typename decltype(type)::type;
    for (int64_t i = 0, n = input.numel(); i < n; ++i)
      whole.data_as<T>()[i] =
          convert<T>(kFunction(convert<double>(input.data_as<T>()[i])));
  });
  if (whole.data() != out.data()) out.copy_from(whole);
}

// An argument, which may be a number, as a contiguous tensor like `out`.
Tensor operand_like(const Tensor& out, const Value& argument);

template <double (*kFunction)(double, double), int kFirst = 0>
void direct_function_of_two(const OpCall& call,
                            std::span<const Tensor> results) {
  const Tensor& out = results[0];
  const Tensor a = operand_like(out, call[kFirst]);
  const Tensor b = operand_like(out, call[kFirst + 1]);
  const Tensor whole =
      out.is_contiguous() ? out : Tensor::empty(out.sizes(), out.dtype());
  visit_dtype(out.dtype(), [&](auto type) {
    using T = typename decltype(type)::type;
    for (int64_t i = 0, n = whole.numel(); i < n; ++i)
      whole.data_as<T>()[i] =
          convert<T>(kFunction(convert<double>(a.data_as<T>()[i]),
                               convert<double>(b.data_as<T>()[i])));
  });
  if (whole.data() != out.data()) out.copy_from(whole);
}

template <double (*kFunction)(double)>
constexpr OpRow function_row(const char* name, const char* names) {
  return {.name = name,
          .schema = "input",
          .names = names,
          .infer = infer_scalar,
          .scalar_types = ScalarTypes::promote_float,
          .direct = direct_function<kFunction>};
}

template <double (*kFunction)(double, double)>
constexpr OpRow function_of_two_row(const char* name, const char* schema,
                                    const char* names) {
  return {.name = name,
          .schema = schema,
          .names = names,
          .infer = infer_scalar,
          .scalar_types = ScalarTypes::promote_float,
          .direct = direct_function_of_two<kFunction>};
}

}  // namespace fxjit::ops
