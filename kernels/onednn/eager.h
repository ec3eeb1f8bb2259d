// The interpreter's products by oneDNN, with the primitives they keep. A part
// of the ops::Backend; false means "do it plainly".
#pragma once

#include <cstddef>

#include "src/ops/eager/matmul.h"

namespace fxjit::kernels::onednn {

bool eager_matmul(const ops::MatmulArgs& args);

// Entries of the cache behind it, of some 100 KB each.
inline constexpr size_t kMostMatmuls = 128;
size_t matmuls_kept();

}  // namespace fxjit::kernels::onednn
