#include "kernels/post_work.h"

#include <immintrin.h>

#include <cstring>

#define FXJIT_INLINE [[gnu::always_inline]] inline
#define FXJIT_FORCED __attribute__((always_inline))

namespace fxjit::kernels {
namespace {

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")
namespace avx512 {
namespace wide {
#define FXJIT_LANES 16
#include "kernels/post_work_rows.h"
#undef FXJIT_LANES
}  // namespace wide
namespace single {
#define FXJIT_LANES 1
#include "kernels/post_work_rows.h"
#undef FXJIT_LANES
}  // namespace single
}  // namespace avx512
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx2,fma")
namespace avx2 {
namespace wide {
#define FXJIT_LANES 8
#include "kernels/post_work_rows.h"
#undef FXJIT_LANES
}  // namespace wide
namespace single {
#define FXJIT_LANES 1
#include "kernels/post_work_rows.h"
#undef FXJIT_LANES
}  // namespace single
}  // namespace avx2
#pragma GCC pop_options

namespace sse41 {
namespace wide {
#define FXJIT_LANES 4
#include "kernels/post_work_rows.h"
#undef FXJIT_LANES
}  // namespace wide
namespace single {
#define FXJIT_LANES 1
#include "kernels/post_work_rows.h"
#undef FXJIT_LANES
}  // namespace single
}  // namespace sse41

}  // namespace

void run_post_work(const PostWork& work, float* data, int64_t places,
                   int64_t channels, CpuLevel level) {
  if (work.count == 0) return;
  switch (level) {
    case CpuLevel::avx512: {
      const int64_t done = avx512::wide::run(work, data, places, 0, channels);
      avx512::single::run(work, data, places, done, channels);
      return;
    }
    case CpuLevel::avx2: {
      const int64_t done = avx2::wide::run(work, data, places, 0, channels);
      avx2::single::run(work, data, places, done, channels);
      return;
    }
    case CpuLevel::sse41: {
      const int64_t done = sse41::wide::run(work, data, places, 0, channels);
      sse41::single::run(work, data, places, done, channels);
      return;
    }
  }
}

}  // namespace fxjit::kernels
