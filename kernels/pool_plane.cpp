#include "kernels/pool_plane.h"

#include <limits>

#include "fxjit/cpu_level.h"

namespace fxjit::kernels {
namespace {

using Axis = Pooling::Axis;

// Functions here are inlined into one function per CPU level and vectorised
// there; a lambda or a library call would keep the baseline's instructions.
#define FXJIT_INLINE [[gnu::always_inline]] inline

// NaN once seen stays.
template <bool kAverage>
FXJIT_INLINE float combine(float a, float b) {
  if constexpr (kAverage) return a + b;
  const bool take = (b > a) | (b != b);
  return take ? b : a;
}

template <bool kAverage>
constexpr float kNothing =
    kAverage ? 0.0f : -std::numeric_limits<float>::infinity();

// The window's elements inside the plane along one dim, and how many count.
struct Span {
  int64_t first = 0, count = 0;
  int64_t padded = 0;
};

FXJIT_INLINE Span span_of(const Axis& axis, int64_t place) {
  const int64_t begin = place * axis.stride - axis.pad;
  const int64_t padded_end = begin + axis.kernel < axis.size + axis.pad
                                 ? begin + axis.kernel
                                 : axis.size + axis.pad;
  Span span;
  span.padded = padded_end - begin;
  int64_t first = 0;
  while (first < axis.kernel && begin + first * axis.dilation < 0) ++first;
  int64_t last = axis.kernel;
  while (last > first && begin + (last - 1) * axis.dilation >= axis.size)
    --last;
  span.first = begin + first * axis.dilation;
  span.count = last - first;
  return span;
}

template <bool kAverage>
FXJIT_INLINE void add_row(const float* from, float* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] = combine<kAverage>(to[i], from[i]);
}

template <bool kAverage, int kStride>
FXJIT_INLINE void combine_columns(const float* row, const Axis& axis,
                                  float* out) {
  const int64_t stride = kStride > 0 ? kStride : axis.stride;
  for (int64_t i = 0; i < axis.places; ++i) out[i] = row[i * stride];
  for (int64_t k = 1; k < axis.kernel; ++k) {
    const float* from = row + k * axis.dilation;
    for (int64_t i = 0; i < axis.places; ++i)
      out[i] = combine<kAverage>(out[i], from[i * stride]);
  }
}

FXJIT_INLINE void divide(float* out, const float* counts, int64_t places,
                         float rows) {
  for (int64_t i = 0; i < places; ++i) out[i] /= counts[i] * rows;
}

FXJIT_INLINE int64_t counted(const PlaneJob& job, const Span& span) {
  if (job.divisor != 0) return 1;
  // A window wholly outside the plane sums to nothing, whatever its size.
  const int64_t count = job.count_pad ? span.padded : span.count;
  return count > 0 ? count : 1;
}

FXJIT_INLINE void count_columns(const PlaneJob& job) {
  const float whole = job.divisor == 0 ? 1.0f : static_cast<float>(job.divisor);
  for (int64_t i = 0; i < job.axes[2].places; ++i)
    job.counts[i] =
        whole * static_cast<float>(counted(job, span_of(job.axes[2], i)));
}

template <bool kAverage, int kStride>
FXJIT_INLINE void pool_rows(const PlaneJob& job) {
  const Axis &depth = job.axes[0], &height = job.axes[1], &width = job.axes[2];
  const int64_t reach = width.reach();
  const int64_t inside =
      width.size < reach - width.pad ? width.size : reach - width.pad;
  if (kAverage) count_columns(job);
  float* out = job.output;
  for (int64_t d = 0; d < depth.places; ++d) {
    const Span ds = span_of(depth, d);
    for (int64_t h = 0; h < height.places; ++h, out += width.places) {
      const Span hs = span_of(height, h);
      for (int64_t i = 0; i < reach; ++i) job.row[i] = kNothing<kAverage>;
      for (int64_t x = 0; x < ds.count; ++x)
        for (int64_t y = 0; y < hs.count; ++y) {
          const int64_t plane_row =
              (ds.first + x * depth.dilation) * height.size + hs.first +
              y * height.dilation;
          add_row<kAverage>(job.input + plane_row * width.size,
                            job.row + width.pad, inside);
        }
      combine_columns<kAverage, kStride>(job.row, width, out);
      if (kAverage)
        divide(out, job.counts, width.places,
               static_cast<float>(counted(job, ds) * counted(job, hs)));
    }
  }
}

template <bool kAverage>
FXJIT_INLINE void pool_kind(const PlaneJob& job) {
  if (job.axes[2].stride == 1)
    pool_rows<kAverage, 1>(job);
  else if (job.axes[2].stride == 2)
    pool_rows<kAverage, 2>(job);
  else
    pool_rows<kAverage, 0>(job);
}

FXJIT_INLINE void pool(const PlaneJob& job) {
  if (job.average)
    pool_kind<true>(job);
  else
    pool_kind<false>(job);
}

[[gnu::target("avx512f,avx512vl,avx512dq,avx512bw,prefer-vector-width=512")]]
void pool_avx512(const PlaneJob& job) {
  pool(job);
}

[[gnu::target("avx2,fma")]] void pool_avx2(const PlaneJob& job) { pool(job); }

void pool_sse41(const PlaneJob& job) { pool(job); }

#undef FXJIT_INLINE

}  // namespace

void pool_plane(const PlaneJob& job) {
  switch (host_cpu_level()) {
    case CpuLevel::avx512:
      return pool_avx512(job);
    case CpuLevel::avx2:
      return pool_avx2(job);
    case CpuLevel::sse41:
      return pool_sse41(job);
  }
}

}  // namespace fxjit::kernels
