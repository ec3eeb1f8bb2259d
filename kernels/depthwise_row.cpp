#include "kernels/depthwise_row.h"

#include <immintrin.h>

#include <cstring>

#define FXJIT_INLINE [[gnu::always_inline]] inline
#define FXJIT_FORCED __attribute__((always_inline))

namespace fxjit::kernels {
namespace {

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")
namespace avx512 {
constexpr int kPlaces = 6;
namespace wide {
#define FXJIT_LANES 16
#include "kernels/depthwise_loops.h"
#undef FXJIT_LANES
}  // namespace wide
namespace narrow {
#define FXJIT_LANES 8
#include "kernels/depthwise_loops.h"
#undef FXJIT_LANES
}  // namespace narrow
namespace single {
#define FXJIT_LANES 1
#include "kernels/depthwise_loops.h"
#undef FXJIT_LANES
}  // namespace single
#include "kernels/depthwise_channels.h"
}  // namespace avx512
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx2,fma")
namespace avx2 {
constexpr int kPlaces = 4;
namespace wide {
#define FXJIT_LANES 8
#include "kernels/depthwise_loops.h"
#undef FXJIT_LANES
}  // namespace wide
namespace narrow {
#define FXJIT_LANES 4
#include "kernels/depthwise_loops.h"
#undef FXJIT_LANES
}  // namespace narrow
namespace single {
#define FXJIT_LANES 1
#include "kernels/depthwise_loops.h"
#undef FXJIT_LANES
}  // namespace single
#include "kernels/depthwise_channels.h"
}  // namespace avx2
#pragma GCC pop_options

namespace sse41 {
constexpr int kPlaces = 4;
namespace wide {
#define FXJIT_LANES 4
#include "kernels/depthwise_loops.h"
#undef FXJIT_LANES
}  // namespace wide
namespace narrow = wide;
namespace single {
#define FXJIT_LANES 1
#include "kernels/depthwise_loops.h"
#undef FXJIT_LANES
}  // namespace single
#include "kernels/depthwise_channels.h"
}  // namespace sse41

}  // namespace

void depthwise_row(const DepthwiseRow& row, int64_t first, int64_t last,
                   CpuLevel level) {
  switch (level) {
    case CpuLevel::avx512:
      return avx512::row_channels(row, first, last);
    case CpuLevel::avx2:
      return avx2::row_channels(row, first, last);
    case CpuLevel::sse41:
      return sse41::row_channels(row, first, last);
  }
}

}  // namespace fxjit::kernels
