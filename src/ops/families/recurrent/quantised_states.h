// The product of a recurrent layer's states and weights of 8 bits, by exact
// sums: the states of each sequence are quantised by themselves.
#pragma once

#include <cstdint>

#include "fxjit/tensor.h"

namespace fxjit::ops {

class QuantisedWeights {
 public:
  // Contiguous: weights [columns, depth] of i8 or u8, scales and zero points
  // [columns] of f32.
  QuantisedWeights(const Tensor& weights, const Tensor& scales,
                   const Tensor& zeros);

  // sums [rows, columns] = states [rows, depth] times the weights, and a bias
  // for each column or null.
  void multiply(const float* states, const float* bias, float* sums,
                int64_t rows) const;

 private:
  Tensor less_zeros_;  // The weights less their zero points, in f64.
  Tensor scales_;
};

}  // namespace fxjit::ops
