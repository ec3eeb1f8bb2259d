#include "kernels/convolution/post_work.h"

#include <immintrin.h>

#include <cstring>

#define FXJIT_LOOPS "kernels/convolution/post_work_rows.h"
#define FXJIT_LEVEL_CODE "kernels/convolution/post_work_level.h"

namespace fxjit::kernels {
namespace {

#include "kernels/each_level.h"

}  // namespace

void run_post_work(const PostWork& work, float* data, int64_t places,
                   int64_t channels, CpuLevel level) {
  if (work.count == 0) return;
  at_level(level, work, data, places, channels);
}

}  // namespace fxjit::kernels
