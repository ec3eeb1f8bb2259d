#include "src/ops/eager/matmul.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "src/ops/eager/backend.h"
#include "src/tensor/visit.h"

namespace fxjit::ops {
namespace {

// Sums wrap for integers; signed overflow would be undefined.
template <typename T>
using SumOf = std::conditional_t<
    is_half_type<T>, float,
    std::conditional_t<
        !std::is_integral_v<T>, T,
        std::conditional_t<sizeof(T) == 8 || std::is_same_v<T, bool>, uint64_t,
                           uint32_t>>>;

template <typename T>
SumOf<T> load(T value) {
  return static_cast<SumOf<T>>(value);
}

// Columns are taken kStrip at a time; a tile of kRows x kStrip sums stays in
// registers while it runs over kDepthBlock packed rows of a strip.
constexpr int kStrip = 8;
constexpr int kRows = 4;
constexpr int64_t kDepthBlock = 512;

template <typename T>
class PlainMatmul {
 public:
  using Sum = SumOf<T>;

  explicit PlainMatmul(const MatmulArgs& args)
      : args_(args),
        panel_(static_cast<size_t>(std::min(args.depth, kDepthBlock) * kStrip)),
        sums_(static_cast<size_t>(args.rows * kStrip)) {}

  void run() {
    for (int64_t i = 0; i < args_.batch; ++i) {
      a_ = static_cast<const T*>(args_.a) + i * args_.a_batch;
      b_ = static_cast<const T*>(args_.b) + i * args_.b_batch;
      c_ = static_cast<T*>(args_.c) + i * args_.c_batch;
      for (int64_t n = 0; n < args_.columns; n += kStrip)
        strip(n, std::min<int64_t>(kStrip, args_.columns - n));
    }
  }

 private:
  void strip(int64_t first, int64_t count) {
    Sum start[kStrip] = {};
    if (args_.bias)
      for (int64_t n = 0; n < count; ++n)
        start[n] = load(
            static_cast<const T*>(args_.bias)[(first + n) * args_.bias_stride]);
    for (int64_t m = 0; m < args_.rows; ++m)
      std::copy(start, start + kStrip, sums_.data() + m * kStrip);
    for (int64_t k = 0; k < args_.depth; k += kDepthBlock)
      add_block(k, std::min(kDepthBlock, args_.depth - k), first, count);
    for (int64_t m = 0; m < args_.rows; ++m)
      for (int64_t n = 0; n < count; ++n)
        c_[m * args_.c_row + first + n] =
            store(sums_[static_cast<size_t>(m * kStrip + n)]);
  }

  void add_block(int64_t k, int64_t depth, int64_t first, int64_t count) {
    for (int64_t i = 0; i < depth; ++i) {
      const T* from = b_ + (k + i) * args_.b_depth + first * args_.b_column;
      Sum* to = panel_.data() + i * kStrip;
      for (int64_t n = 0; n < count; ++n)
        to[n] = load(from[n * args_.b_column]);
      std::fill(to + count, to + kStrip, Sum(0));
    }
    int64_t m = 0;
    for (; m + kRows <= args_.rows; m += kRows) tile<kRows>(m, k, depth);
    for (; m < args_.rows; ++m) tile<1>(m, k, depth);
  }

  template <int kHigh>
  void tile(int64_t first, int64_t k, int64_t depth) {
    Sum total[kHigh][kStrip] = {};
    const T* a = a_ + first * args_.a_row + k * args_.a_depth;
    const Sum* line = panel_.data();
    for (int64_t i = 0; i < depth; ++i, line += kStrip) {
      for (int m = 0; m < kHigh; ++m) {
        const Sum factor = load(a[m * args_.a_row]);
        for (int n = 0; n < kStrip; ++n) total[m][n] += factor * line[n];
      }
      a += args_.a_depth;
    }
    for (int m = 0; m < kHigh; ++m)
      for (int n = 0; n < kStrip; ++n)
        sums_[static_cast<size_t>((first + m) * kStrip + n)] += total[m][n];
  }

  static T store(Sum sum) {
    if constexpr (std::is_same_v<T, bool>) return sum != 0;
    return static_cast<T>(sum);
  }

  const MatmulArgs& args_;
  std::vector<Sum> panel_;
  std::vector<Sum> sums_;
  const T* a_ = nullptr;
  const T* b_ = nullptr;
  T* c_ = nullptr;
};

}  // namespace

void plain_matmul(const MatmulArgs& args) {
  if (args.batch == 0 || args.rows == 0 || args.columns == 0) return;
  visit_dtype(args.dtype, [&](auto type) {
    PlainMatmul<typename decltype(type)::type>(args).run();
  });
}

void run_matmul(const MatmulArgs& args) {
  const MatmulBackend kernel = matmul_backend();
  if (kernel && kernel(args)) return;
  plain_matmul(args);
}

}  // namespace fxjit::ops
