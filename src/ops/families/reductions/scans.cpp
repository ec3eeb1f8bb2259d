// Running results along a dim: cumprod, cummax, cummin, logcumsumexp. Loops of
// C++, as each element waits for the one before.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"
#include "src/tensor/visit.h"

namespace fxjit::ops {
namespace {

using Results = std::span<const Tensor>;

// Calls fn(first, step) with the offsets of the first element of each line
// along `axis` in each tensor, and the steps from element to element.
template <int N, typename Fn>
void for_each_line(const std::array<const Tensor*, N>& tensors, int axis,
                   Fn&& fn) {
  Dims lines = tensors[0]->sizes();
  std::array<Dims, N> strides;
  std::array<int64_t, N> steps;
  for (size_t k = 0; k < N; ++k) {
    strides[k] = tensors[k]->strides();
    steps[k] = axis_stride(*tensors[k], axis);
  }
  if (!lines.empty()) lines[axis] = std::min<int64_t>(lines[axis], 1);
  for_each_point<N>(lines, strides, [&](const auto& at) { fn(at, steps); });
}

void direct_cumprod(const OpCall& call, Results results) {
  const Tensor& out = results[0];
  const Tensor input = call.tensor(0).to(out.dtype());
  const int axis = dim_arg(call, 1, input.dim());
  visit_dtype(out.dtype(), [&](auto type) {
    using T = typename decltype(type)::type;
    // Products of floats are doubles, as torch's.
    using C = std::conditional_t<std::is_floating_point_v<ComputeOf<T>>, double,
                                 uint64_t>;
    using Number =
        std::conditional_t<std::is_same_v<C, double>, double, int64_t>;
    const int64_t length = axis_size(out, axis);
    for_each_line<2>({&input, &out}, axis, [&](const auto& at, const auto& by) {
      C product = 1;
      const T* from = input.data_as<T>() + at[0];
      T* to = out.data_as<T>() + at[1];
      for (int64_t i = 0; i < length; ++i, from += by[0], to += by[1]) {
        product *= static_cast<C>(static_cast<ComputeOf<T>>(*from));
        *to = convert<T>(static_cast<Number>(product));
      }
    });
  });
}

Value infer_logcumsumexp(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  dim_arg(call, 1, input.dim());
  return Tensor::meta(input.sizes(),
                      is_floating(input.dtype()) ? input.dtype() : DType::f32);
}

// log(exp(a) + exp(b)); infinities of one sign and NaN stay what they are.
double log_of_sum(double a, double b) {
  const double high = std::max(a, b), low = std::min(a, b);
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<double>::quiet_NaN();
  if (std::isinf(high) || high == low)
    return std::isinf(high) ? high : high + std::log(2.0);
  return high + std::log1p(std::exp(low - high));
}

void direct_logcumsumexp(const OpCall& call, Results results) {
  const Tensor& out = results[0];
  const Tensor input = call.tensor(0).to(out.dtype());
  const int axis = dim_arg(call, 1, input.dim());
  visit_dtype(out.dtype(), [&](auto type) {
    using T = typename decltype(type)::type;
    for_each_line<2>({&input, &out}, axis, [&](const auto& at, const auto& by) {
      double total = -std::numeric_limits<double>::infinity();
      for (int64_t i = 0; i < axis_size(out, axis); ++i) {
        const T x = input.data_as<T>()[at[0] + i * by[0]];
        total = log_of_sum(total, static_cast<double>(convert<double>(x)));
        out.data_as<T>()[at[1] + i * by[1]] = convert<T>(total);
      }
    });
  });
}

template <typename C>
bool is_scan_nan(C value) {
  if constexpr (std::is_floating_point_v<C>) return std::isnan(value);
  return false;
}

// The last of equal ones counts; NaN stays.
template <bool kGreatest>
void direct_extrema(const OpCall& call, Results results) {
  const Tensor &input = call.tensor(0), &values = results[0];
  const Tensor& places = results[1];
  const int axis = dim_arg(call, 1, input.dim());
  if (input.numel() == 0) return;
  visit_dtype(input.dtype(), [&](auto type) {
    using T = typename decltype(type)::type;
    using C = ComputeOf<T>;
    const int64_t length = axis_size(input, axis);
    for_each_line<3>(
        {&input, &values, &places}, axis, [&](const auto& at, const auto& by) {
          const T* from = input.data_as<T>() + at[0];
          T* to = values.data_as<T>() + at[1];
          int64_t* to_place = places.data_as<int64_t>() + at[2];
          T best = *from;
          int64_t place = 0;
          for (int64_t i = 0; i < length; ++i) {
            const C a = static_cast<C>(*from), b = static_cast<C>(best);
            const bool better = kGreatest ? a >= b : a <= b;
            if (is_scan_nan(a) || (!is_scan_nan(b) && better)) {
              best = *from;
              place = i;
            }
            *to = best;
            *to_place = place;
            from += by[0], to += by[1], to_place += by[2];
          }
        });
  });
}

constexpr OpRow kScansRows[] = {
    direct_row("cumprod", "input, dim, *, dtype=None", "torch.cumprod .cumprod",
               infer_running, direct_cumprod),
    direct_row("logcumsumexp", "input, dim", "torch.logcumsumexp .logcumsumexp",
               infer_logcumsumexp, direct_logcumsumexp),
    direct_row("cummax", "input, dim", "torch.cummax .cummax", infer_ordered,
               direct_extrema<true>),
    direct_row("cummin", "input, dim", "torch.cummin .cummin", infer_ordered,
               direct_extrema<false>),
};

}  // namespace

std::span<const OpRow> scan_rows() { return kScansRows; }

}  // namespace fxjit::ops
