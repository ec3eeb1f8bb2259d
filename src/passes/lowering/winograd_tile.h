// The tile of a convolution by Winograd's transforms: a choice of profit that
// passes leave to planning, which sees numbers.
#pragma once

#include <cstdint>
#include <span>

namespace fxjit::passes {

// 2 or 4, for images, rows and columns of the result, channels and features.
int64_t winograd_tile(std::span<const int64_t> sizes);

}  // namespace fxjit::passes
