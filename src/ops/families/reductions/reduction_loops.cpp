#include "src/ops/families/reductions/reduction_loops.h"

#include <cmath>

#include "src/ops/families/shared/structured.h"

namespace fxjit::ops {
namespace {

// Lines of a tensor along one axis: where they start, their step and length.
struct Lines {
  Dims outer, starts;
  int64_t length = 1, step = 1;

  Lines(const Tensor& tensor, int axis) {
    for (int d = 0; d < tensor.dim(); ++d) {
      if (d == axis) {
        length = tensor.sizes()[d];
        step = tensor.strides()[d];
      } else {
        outer.push_back(tensor.sizes()[d]);
        starts.push_back(tensor.strides()[d]);
      }
    }
  }
};

template <typename T>
bool is_nan(T value) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(value);
  return false;
}

template <typename T>
int64_t best_position(const T* line, int64_t length, int64_t step,
                      bool greatest) {
  int64_t best = 0;
  T value = line[0];
  for (int64_t i = 1; i < length && !is_nan(value); ++i) {
    const T candidate = line[i * step];
    if (!is_nan(candidate) &&
        !(greatest ? candidate > value : candidate < value))
      continue;
    best = i;
    value = candidate;
  }
  return best;
}

}  // namespace

void arg_extremum(const Tensor& input, int axis, bool greatest,
                  const Tensor& out) {
  const Tensor values = input.to(kernel_dtype(input.dtype()));
  const Lines lines(values, axis);
  int64_t* next = out.data_as<int64_t>();
  visit_kernel_dtype(values.dtype(), [&](auto type) {
    using T = typename decltype(type)::type;
    for_each_point<1>(lines.outer, {lines.starts}, [&](const auto& at) {
      *next++ = best_position(values.data_as<T>() + at[0], lines.length,
                              lines.step, greatest);
    });
  });
}

void cumulative_sum(const Tensor& input, int axis, const Tensor& out) {
  const Lines from(input, axis), to(out, axis);
  visit_kernel_dtype(out.dtype(), [&](auto type) {
    using T = typename decltype(type)::type;
    // Integers wrap.
    using Total = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;
    for_each_point<2>(
        from.outer, {from.starts, to.starts}, [&](const auto& at) {
          Total total = 0;
          for (int64_t i = 0; i < from.length; ++i) {
            total +=
                static_cast<Total>(input.data_as<T>()[at[0] + i * from.step]);
            out.data_as<T>()[at[1] + i * to.step] = static_cast<T>(total);
          }
        });
  });
}

}  // namespace fxjit::ops
