#include "src/ops/families/images/antialias.h"

#include <algorithm>
#include <cmath>

namespace fxjit::ops {
namespace {

template <typename C>
C triangle_filter(C x) {
  return std::max(C(0), 1 - std::abs(x));
}

template <typename C>
C keys_filter(C x) {
  constexpr C kA = C(-0.5);
  x = std::abs(x);
  if (x < 1) return ((kA + 2) * x - (kA + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * kA : C(0);
}

}  // namespace

template <typename C>
std::vector<C> antialias_weights(int64_t from, int64_t to, C step, bool cubic) {
  const C stretch = std::max(C(1), step);
  const C support = (cubic ? 2 : 1) * stretch;
  std::vector<C> weights(static_cast<size_t>(from * to), 0);
  for (int64_t i = 0; i < to; ++i) {
    const C center = step * (static_cast<C>(i) + C(0.5));
    const int64_t first =
        std::max<int64_t>(0, static_cast<int64_t>(center - support + C(0.5)));
    const int64_t end =
        std::min(from, static_cast<int64_t>(center + support + C(0.5)));
    C* const row = weights.data() + i * from;
    C total = 0;
    for (int64_t j = first; j < end; ++j) {
      const C x = (static_cast<C>(j) - center + C(0.5)) / stretch;
      total += row[j] = cubic ? keys_filter(x) : triangle_filter(x);
    }
    for (int64_t j = first; total != 0 && j < end; ++j) row[j] /= total;
  }
  return weights;
}

template std::vector<float> antialias_weights(int64_t, int64_t, float, bool);
template std::vector<double> antialias_weights(int64_t, int64_t, double, bool);

}  // namespace fxjit::ops
