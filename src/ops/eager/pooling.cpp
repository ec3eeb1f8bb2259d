#include "src/ops/eager/pooling.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "src/ops/eager/places_inside.h"
#include "src/ops/families/shared/structured.h"
#include "src/support/rounding.h"

namespace fxjit::ops {
namespace {

// One spatial dim of the pooling; missing dims have size 1.
struct Axis {
  int64_t size = 1, places = 1, kernel = 1, stride = 1, pad = 0, dilation = 1;
};

// The part of a window that lies inside the plane along one dim.
struct Span {
  int64_t begin, end;
  int64_t padded;  // Length with the padding that it covers.
};

Span window(const Axis& axis, int64_t place) {
  int64_t begin = place * axis.stride - axis.pad;
  const int64_t padded_end =
      std::min(begin + axis.kernel, axis.size + axis.pad);
  const int64_t padded = padded_end - begin;
  const int64_t end =
      std::min(begin + (axis.kernel - 1) * axis.dilation + 1, axis.size);
  if (begin < 0)
    begin += (axis.dilation - 1 - begin) / axis.dilation * axis.dilation;
  return {begin, std::max(begin, end), padded};
}

// Rows of results are computed tap by tap.
template <typename T>
class PlainPool {
 public:
  PlainPool(const PoolParams& params, const Tensor& input, const Tensor& out)
      : params_(params) {
    for (int i = 0; i < params.spatial; ++i) {
      Axis& axis = axes_[3 - params.spatial + i];
      axis.size = input.sizes()[2 + i];
      axis.places = out.sizes()[2 + i];
      axis.kernel = params.kernel[i];
      axis.stride = params.stride[i];
      axis.pad = params.padding[i];
      axis.dilation = params.dilation[i];
    }
    for (size_t d = 0; d < 3; ++d)
      for (int64_t i = 0; i < axes_[d].places; ++i)
        windows_[d].push_back(window(axes_[d], i));
    for (int64_t k = 0; k < axes_[2].kernel; ++k)
      columns_.push_back(places_inside(k * axes_[2].dilation - axes_[2].pad,
                                       axes_[2].stride, axes_[2].size,
                                       axes_[2].places));
    totals_.resize(windows_[2].size());
  }

  void run(const T* input, int64_t planes, T* out, int64_t* positions) {
    const int64_t plane = axes_[0].size * axes_[1].size * axes_[2].size;
    for (int64_t n = 0; n < planes; ++n, input += plane)
      for (const Span& x : windows_[0])
        for (const Span& y : windows_[1]) {
          if (params_.average)
            averages(input, x, y, out);
          else
            maxima(input, x, y, out, positions);
          out += axes_[2].places;
          if (positions) positions += axes_[2].places;
        }
  }

 private:
  int64_t row(int64_t i, int64_t j) const {
    return (i * axes_[1].size + j) * axes_[2].size;
  }

  // Calls fn(first place, end, position of the first in the plane).
  template <typename Fn>
  void for_each_tap(const Span& x, const Span& y, Fn&& fn) const {
    const Axis& axis = axes_[2];
    for (int64_t i = x.begin; i < x.end; i += axes_[0].dilation)
      for (int64_t j = y.begin; j < y.end; j += axes_[1].dilation)
        for (size_t k = 0; k < columns_.size(); ++k)
          fn(columns_[k].first, columns_[k].second,
             row(i, j) + columns_[k].first * axis.stride - axis.pad +
                 static_cast<int64_t>(k) * axis.dilation);
  }

  // The first greatest elements; a NaN is greater than all.
  void maxima(const T* plane, const Span& x, const Span& y, T* out,
              int64_t* positions) const {
    using Limits = std::numeric_limits<T>;
    std::fill_n(out, axes_[2].places,
                Limits::has_infinity ? static_cast<T>(-Limits::infinity())
                                     : Limits::lowest());
    for (size_t z = 0; positions && z < windows_[2].size(); ++z)
      positions[z] = row(x.begin, y.begin) + windows_[2][z].begin;
    const int64_t stride = axes_[2].stride;
    for_each_tap(x, y, [&](int64_t z, int64_t end, int64_t at) {
      for (; z < end; ++z, at += stride) {
        const T value = plane[at];
        const bool is_more = value > out[z] || value != value;
        out[z] = is_more ? value : out[z];
        if (positions) positions[z] = is_more ? at : positions[z];
      }
    });
  }

  void averages(const T* plane, const Span& x, const Span& y, T* out) {
    std::ranges::fill(totals_, 0.0);
    const int64_t stride = axes_[2].stride;
    for_each_tap(x, y, [&](int64_t z, int64_t end, int64_t at) {
      for (; z < end; ++z, at += stride)
        totals_[static_cast<size_t>(z)] += static_cast<double>(plane[at]);
    });
    for (size_t z = 0; z < totals_.size(); ++z) {
      const double elements = counted(x, y, windows_[2][z]);
      out[z] = static_cast<T>(elements == 0 ? 0 : totals_[z] / elements);
    }
  }

  // What the sum of a window is divided by; 0 if nothing of it is inside.
  double counted(const Span& x, const Span& y, const Span& z) const {
    const Span spans[] = {x, y, z};
    double inside = 1, padded = 1;
    for (size_t d = 0; d < 3; ++d) {
      const int64_t length = spans[d].end - spans[d].begin;
      inside *=
          static_cast<double>(support::ceil_div(length, axes_[d].dilation));
      padded *= static_cast<double>(spans[d].padded);
    }
    if (inside == 0) return 0;
    if (params_.divisor != 0) return static_cast<double>(params_.divisor);
    return params_.count_include_pad ? padded : inside;
  }

  const PoolParams& params_;
  Axis axes_[3];
  std::vector<Span> windows_[3];
  // By tap of the last dim: the places that have it inside.
  std::vector<std::pair<int64_t, int64_t>> columns_;
  std::vector<double> totals_;  // Of a row of results.
};

}  // namespace

void run_pool(const PoolParams& params, const Tensor& input, const Tensor& out,
              const Tensor& positions) {
  if (out.numel() == 0) return;
  const DType dtype = kernel_dtype(out.dtype());
  const Tensor x = input.to(dtype).contiguous();
  const Tensor wide =
      dtype == out.dtype() ? out : Tensor::empty(out.sizes(), dtype);
  visit_kernel_dtype(dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    PlainPool<T>(params, x, wide)
        .run(x.data_as<T>(), x.sizes()[0] * x.sizes()[1], wide.data_as<T>(),
             positions.defined() ? positions.data_as<int64_t>() : nullptr);
  });
  if (dtype != out.dtype()) out.copy_from(wide);
}

}  // namespace fxjit::ops
