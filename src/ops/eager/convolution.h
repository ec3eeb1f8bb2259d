// The parameters of any convolution in one struct, and the eager function that
// computes it: a product by im2col and run_matmul, image by image.
// Shape rules of the convolution family and the lowering of convolutions read
// calls by `conv_params`.
#pragma once

#include "fxjit/op.h"

namespace fxjit::ops {

// Any convolution with 1 to 3 spatial dims. Input [N, C, ...]; weight
// [C_out, C / groups, ...], transposed [C, C_out / groups, ...].
struct ConvParams {
  bool transposed = false;
  bool batched = true;  // Otherwise the call's input and result lack N.
  int spatial = 2;
  int64_t groups = 1;
  Dims stride, dilation;
  Dims pad_before, pad_after;  // Per spatial dim.
  Dims output_padding;         // Transposed only.
  Dims output;                 // Sizes of the result, N included.
};

// Reads a call of any convolution op. Throws RuntimeError with torch's text if
// shapes do not fit. Tensors may be meta.
ConvParams conv_params(const OpCall& call);

// Computes the convolution. input: [N, C, ...]; weight: see ConvParams; bias:
// [C_out] or undefined; out: contiguous, of the shape `params.output`. All have
// one dtype.
void run_conv(const ConvParams& params, const Tensor& input,
              const Tensor& weight, const Tensor& bias, const Tensor& out);

}  // namespace fxjit::ops
