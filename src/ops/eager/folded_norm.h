// Batch norm in evaluation as a part of the layer in front of it:
//
//   batch_norm(layer(x, w, b)) = layer(x, w * s, (b - mean) * s + beta)
//   s = gamma / sqrt(var + eps)
//
// for a layer whose weight has the channels of its result first. Computed in
// double precision. The compiler's pattern fold_batch_norm and torch.fx's fuse
// use it.
#pragma once

#include <vector>

#include "fxjit/tensor.h"

namespace fxjit::ops {

class FoldedNorm {
 public:
  // One number a channel each; gamma and beta may be undefined.
  FoldedNorm(const Tensor& mean, const Tensor& var, const Tensor& gamma,
             const Tensor& beta, double eps);

  // Whether every scale, mean and addend is finite: else products by zero and
  // sums of infinities give NaN at other places than in two steps.
  bool is_finite() const;
  // Writes the new weight, contiguous and of the old one's type.
  void scale(const Tensor& weight, void* out) const;
  // The new bias; the old one may be undefined.
  Tensor bias(const Tensor& bias, DType dtype) const;

 private:
  // Each channel's sums are multiplied by a scale, after its mean was taken
  // away and before something is added.
  std::vector<double> scales_, means_, added_;
};

}  // namespace fxjit::ops
