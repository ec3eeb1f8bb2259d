// The loops of post_work.cpp, once per CPU level and vector width
// (vector_widths.h).

#include "kernels/convolution/post_work_loops.h"

template <int kVectors>
inline void run_vectors(const PostWork& work, float* data, int64_t place,
                        int64_t channel) {
  Vector x[kVectors];
#pragma GCC unroll 8
  for (int i = 0; i < kVectors; ++i) x[i] = load(data + i * FXJIT_LANES);
  for (int64_t op = 0; op < work.count; ++op)
    apply(work.ops[op], x, [&](int tensor, int i) FXJIT_FORCED {
      return load(work.extras[tensor] + place * work.steps[tensor] + channel +
                  i * FXJIT_LANES);
    });
#pragma GCC unroll 8
  for (int i = 0; i < kVectors; ++i) store(x[i], data + i * FXJIT_LANES);
}

// Whole vectors of channels [first, last) of every place; where they end.
inline int64_t run(const PostWork& work, float* data, int64_t places,
                   int64_t first, int64_t last) {
  constexpr int64_t kMost = 4;
  int64_t end = first;
  for (int64_t place = 0; place < places; ++place) {
    float* row = data + place * last;
    int64_t c = first;
    for (; c + kMost * FXJIT_LANES <= last; c += kMost * FXJIT_LANES)
      run_vectors<kMost>(work, row + c, place, c);
    for (; c + FXJIT_LANES <= last; c += FXJIT_LANES)
      run_vectors<1>(work, row + c, place, c);
    end = c;
  }
  return end;
}
