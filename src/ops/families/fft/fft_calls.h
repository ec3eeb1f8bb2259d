// ATen's three Fourier transforms as calls of the kernels, for the functions of
// torch.fft and for stft. Arguments may be proxies.
#pragma once

#include "src/ops/families/shared/structured.h"

namespace fxjit::ops {

// torch's numbers for what a transform is divided by.
enum class Scaling { none = 0, root = 1, count = 2 };

// RuntimeError unless so many numbers can be transformed.
void check_length(int64_t length);

Value fft_c2c(const Value& input, const Dims& dims, Scaling scaling,
              bool forward);
Value fft_r2c(const Value& input, const Dims& dims, Scaling scaling,
              bool onesided);
// `length`: of the last of `dims` in the result.
Value fft_c2r(const Value& input, const Dims& dims, Scaling scaling,
              int64_t length);

}  // namespace fxjit::ops
