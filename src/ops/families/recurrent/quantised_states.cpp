#include "src/ops/families/recurrent/quantised_states.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "src/ops/eager/matmul.h"

namespace fxjit::ops {
namespace {

// A row of states less its zero point, and its scale.
float quantise_states(const float* states, int64_t count, double* whole) {
  float low = 0, high = 0;
  bool finite = true;
  for (int64_t i = 0; i < count; ++i) {
    low = std::min(low, states[i]), high = std::max(high, states[i]);
    finite = finite && std::isfinite(states[i]);
  }
  std::fill_n(whole, count, 0.0);
  if (!finite) return std::numeric_limits<float>::quiet_NaN();
  const float scale = low == high ? 1.0f : (high - low) / 255.0f;
  const float zero = std::nearbyint(std::clamp(-low / scale, 0.0f, 255.0f));
  for (int64_t i = 0; i < count; ++i)
    whole[i] =
        std::clamp(std::nearbyint(states[i] / scale) + zero, 0.0f, 255.0f) -
        zero;
  return scale;
}

}  // namespace

QuantisedWeights::QuantisedWeights(const Tensor& weights, const Tensor& scales,
                                   const Tensor& zeros)
    : less_zeros_(weights.to(DType::f64)), scales_(scales) {
  const int64_t depth = weights.size(1);
  auto* number = less_zeros_.data_as<double>();
  for (int64_t c = 0; c < weights.size(0); ++c)
    for (int64_t k = 0; k < depth; ++k) *number++ -= zeros.data_as<float>()[c];
}

void QuantisedWeights::multiply(const float* states, const float* bias,
                                float* sums, int64_t rows) const {
  const int64_t columns = less_zeros_.size(0), depth = less_zeros_.size(1);
  std::vector<double> whole(static_cast<size_t>(rows * depth));
  std::vector<double> exact(static_cast<size_t>(rows * columns));
  std::vector<float> scale(static_cast<size_t>(rows));
  for (int64_t r = 0; r < rows; ++r)
    scale[static_cast<size_t>(r)] =
        quantise_states(states + r * depth, depth, whole.data() + r * depth);
  MatmulArgs args;
  args.dtype = DType::f64;
  args.rows = rows, args.columns = columns, args.depth = depth;
  args.a = whole.data(), args.a_row = depth;
  args.b = less_zeros_.data_as<double>(), args.b_column = depth;
  args.b_depth = 1;
  args.c = exact.data(), args.c_row = columns;
  run_matmul(args);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) {
      const auto i = static_cast<size_t>(r * columns + c);
      const float by =
          scale[static_cast<size_t>(r)] * scales_.data_as<float>()[c];
      sums[i] = static_cast<float>(exact[i]) * by + (bias ? bias[c] : 0.0f);
    }
}

}  // namespace fxjit::ops
