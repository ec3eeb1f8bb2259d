// Convolutions in one canonical form, and the function behind the eager ones:
// what the backend has (backend.h), or a plain im2col product. The convolution
// family and the lowering of Lowering::convolution read calls with
// `conv_params`.
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

// Reads a call of any row of the family; RuntimeError with torch's texts when
// shapes do not fit. Tensors may be meta.
ConvParams conv_params(const OpCall& call);

// One filter for each of several channels; tensors may be meta.
bool is_depthwise(const ConvParams& params, const Tensor& weight);
// Groups of as many channels before as behind, so few that loops of our own do
// better than the library's, under windows of three taps of the last dim, side
// by side, of which at most one at each end lies in the padding.
bool has_small_groups(const ConvParams& params, const Tensor& weight);

// input and out have the batch dim; bias is undefined or [C_out]. `out` is
// contiguous.
void run_conv(const ConvParams& params, const Tensor& input,
              const Tensor& weight, const Tensor& bias, const Tensor& out);
// im2col and run_matmul, image by image; never calls the backend's function.
void plain_conv(const ConvParams& params, const Tensor& input,
                const Tensor& weight, const Tensor& bias, const Tensor& out);

}  // namespace fxjit::ops
