// What post_work.cpp has per CPU level.

#include "kernels/vector_widths.h"

inline void run(const PostWork& work, float* data, int64_t places,
                int64_t channels) {
  const int64_t done = wide::run(work, data, places, 0, channels);
  single::run(work, data, places, done, channels);
}
