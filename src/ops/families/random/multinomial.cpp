// torch.multinomial's two ways: with replacement by a search in the cumulative
// weights, without it by the greatest quotients of weights and exponential
// numbers.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "src/ops/families/random/draws.h"
#include "src/ops/families/shared/structured.h"

namespace fxjit::ops {
namespace {

template <typename T>
void check_weights(const T* weights, int64_t rows, int64_t count) {
  for (int64_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) {
      const auto weight = convert<double>(weights[r * count + i]);
      if (!std::isfinite(weight) || weight < 0)
        runtime_error(
            "probability tensor contains either `inf`, `nan` or element < 0");
      sum += weight;
    }
    if (!(sum > 0))
      runtime_error(
          "invalid multinomial distribution (sum of probabilities <= 0)");
  }
}

template <typename T>
void sample_again(const T* weights, int64_t count, std::span<int64_t> out,
                  Generator::Draw& draw) {
  using C = ComputeOf<T>;
  std::vector<C> cumulative(static_cast<size_t>(count));
  C sum = 0;
  for (int64_t i = 0; i < count; ++i)
    cumulative[static_cast<size_t>(i)] = sum += convert<C>(weights[i]);
  for (C& value : cumulative) value /= sum;
  cumulative.back() = 1;
  for (int64_t& place : out) {
    const double wanted = draw.uniform53();
    place = std::lower_bound(cumulative.begin(), cumulative.end(), wanted,
                             [](C value, double u) { return value < u; }) -
            cumulative.begin();
  }
}

// Drawn with exponential numbers: the greatest keys are a weighted sample.
template <typename T>
std::vector<ComputeOf<T>> keys(const T* weights, int64_t count,
                               Generator::Draw& draw) {
  using C = ComputeOf<T>;
  std::vector<C> result(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const C waited = convert<C>(convert<T>(-std::log1p(-draw.uniform53())));
    result[static_cast<size_t>(i)] =
        convert<C>(convert<T>(convert<C>(weights[i]) / waited));
  }
  return result;
}

template <typename C>
void take_greatest(std::span<const C> keys, std::span<int64_t> out) {
  std::vector<int64_t> order(keys.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  const auto before = [&](int64_t a, int64_t b) {
    const C x = keys[static_cast<size_t>(a)], y = keys[static_cast<size_t>(b)];
    if (x != y && x == x && y == y) return x > y;
    const bool a_unknown = x != x, b_unknown = y != y;
    return a_unknown != b_unknown ? a_unknown : a < b;
  };
  std::partial_sort(order.begin(),
                    order.begin() + static_cast<int64_t>(out.size()),
                    order.end(), before);
  std::copy_n(order.begin(), out.size(), out.begin());
}

}  // namespace

// A single sample is drawn as one without replacement.
void fill_multinomial(const Tensor& out, const Tensor& weights,
                      bool replacement, Generator::Draw& draw) {
  const int64_t count = weights.size(-1);
  const int64_t samples = out.size(-1), rows = out.numel() / samples;
  int64_t* const places = out.data_as<int64_t>();
  const auto places_of = [&](int64_t row) {
    return std::span(places + row * samples, static_cast<size_t>(samples));
  };
  visit_dtype(weights.dtype(), [&](auto type) {
    using T = typename decltype(type)::type;
    if constexpr (is_half_type<T> || std::is_floating_point_v<T>) {
      using C = ComputeOf<T>;
      const T* const data = weights.data_as<T>();
      check_weights(data, rows, count);
      for (int64_t r = 0; r < rows; ++r) {
        if (replacement && samples > 1)
          sample_again(data + r * count, count, places_of(r), draw);
        else
          take_greatest<C>(keys(data + r * count, count, draw), places_of(r));
      }
    }
  });
}

}  // namespace fxjit::ops
