// The interpreter's functions by oneDNN, with the primitives they keep. Parts
// of the ops::Backend; false means "do it plainly".
#pragma once

#include <cstddef>

#include "src/ops/eager/convolution.h"
#include "src/ops/eager/matmul.h"

namespace fxjit::kernels::onednn {

bool eager_matmul(const ops::MatmulArgs& args);
bool eager_conv(const ops::ConvParams& params, const Tensor& input,
                const Tensor& weight, const Tensor& bias, const Tensor& out);

// Entries of the caches behind them, of some 100 KB each.
inline constexpr size_t kMostMatmuls = 128;
inline constexpr size_t kMostConvolutions = 128;
size_t matmuls_kept();
size_t convolutions_kept();

}  // namespace fxjit::kernels::onednn
