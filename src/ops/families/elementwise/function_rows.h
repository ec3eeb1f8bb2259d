// Rows of functions that are computed element by element in double precision,
// by C++ functions of one or two numbers. Compiled programs call the same
// loops.
#pragma once

#include "src/ops/families/shared/structured.h"
#include "src/ops/table/promote.h"

namespace fxjit::ops {

// Calls at<T>(i), which gives a double, for each element in row-major order.
template <typename Fn>
void fill_elements(const Tensor& out, Fn&& at) {
  fill_contiguous(out, [&](const Tensor& whole) {
    visit_dtype(out.dtype(), [&](auto type) {
      using T = typename decltype(type)::type;
      for (int64_t i = 0, n = whole.numel(); i < n; ++i)
        whole.data_as<T>()[i] = convert<T>(at.template operator()<T>(i));
    });
  });
}

template <double (*kFunction)(double)>
void direct_function(const OpCall& call, std::span<const Tensor> results) {
  const Tensor& out = results[0];
  const Tensor input = call.tensor(0).to(out.dtype()).contiguous();
  fill_elements(out, [&]<typename T>(int64_t i) {
    return kFunction(convert<double>(input.data_as<T>()[i]));
  });
}

// An argument, which may be a number, as a contiguous tensor like `out`.
Tensor operand_like(const Tensor& out, const Value& argument);

template <double (*kFunction)(double, double), int kFirst = 0>
void direct_function_of_two(const OpCall& call,
                            std::span<const Tensor> results) {
  const Tensor& out = results[0];
  const Tensor a = operand_like(out, call[kFirst]);
  const Tensor b = operand_like(out, call[kFirst + 1]);
  fill_elements(out, [&]<typename T>(int64_t i) {
    return kFunction(convert<double>(a.data_as<T>()[i]),
                     convert<double>(b.data_as<T>()[i]));
  });
}

constexpr OpRow function_row(const char* name, const char* schema,
                             const char* names, DirectFn direct) {
  OpRow row = direct_row(name, schema, names, infer_scalar, direct);
  row.scalar_types = ScalarTypes::promote_float;
  row.facts = {.layout = Layout::elementwise};
  return row;
}

template <double (*kFunction)(double)>
constexpr OpRow function_row(const char* name, const char* names) {
  return function_row(name, "input", names, direct_function<kFunction>);
}

}  // namespace fxjit::ops
