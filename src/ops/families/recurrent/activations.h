// The functions of gates, on numbers in memory.
#pragma once

#include <cmath>
#include <cstdint>

#include "src/ops/table/recurrence.h"

namespace fxjit::ops {

template <typename T, typename Fn>
void each_number(T* x, int64_t count, Fn&& fn) {
  for (int64_t i = 0; i < count; ++i) x[i] = fn(x[i]);
}

template <typename T>
T logistic(T x) {
  return T(1) / (T(1) + std::exp(-x));
}

template <typename T>
T log_one_plus_exp(T x) {
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

template <typename T>
void activate(const Activation& how, T* x, int64_t count) {
  using Kind = Activation::Kind;
  const T a = static_cast<T>(how.alpha), b = static_cast<T>(how.beta);
  switch (how.kind) {
    case Kind::sigmoid:
      return each_number(x, count, logistic<T>);
    case Kind::tanh:
      return each_number(x, count, [](T v) { return std::tanh(v); });
    case Kind::relu:
      return each_number(x, count, [](T v) { return v < 0 ? T(0) : v; });
    case Kind::affine:
      return each_number(x, count, [=](T v) { return a * v + b; });
    case Kind::leaky_relu:
      return each_number(x, count, [=](T v) { return v < 0 ? a * v : v; });
    case Kind::thresholded_relu:
      return each_number(x, count, [=](T v) { return v < a ? T(0) : v; });
    case Kind::scaled_tanh:
      return each_number(x, count, [=](T v) { return a * std::tanh(b * v); });
    case Kind::hard_sigmoid:
      return each_number(x, count, [=](T v) {
        const T y = a * v + b;
        return y < 0 ? T(0) : y > 1 ? T(1) : y;
      });
    case Kind::elu:
      return each_number(x, count,
                      [=](T v) { return v < 0 ? a * std::expm1(v) : v; });
    case Kind::softsign:
      return each_number(x, count, [](T v) { return v / (1 + std::abs(v)); });
    case Kind::softplus:
      return each_number(x, count, log_one_plus_exp<T>);
  }
}

}  // namespace fxjit::ops
