#include "src/ops/eager/pooling.h"

#include <algorithm>
#include <vector>

#include "src/ops/families/shared/structured.h"

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
  }

  void run(const T* input, int64_t planes, T* out, int64_t* positions) {
    const int64_t plane = axes_[0].size * axes_[1].size * axes_[2].size;
    for (int64_t n = 0; n < planes; ++n, input += plane)
      for (const Span& x : windows_[0])
        for (const Span& y : windows_[1])
          for (const Span& z : windows_[2]) {
            const Span spans[3] = {x, y, z};
            if (params_.average) {
              *out++ = average(input, spans);
              continue;
            }
            const int64_t best = greatest(input, spans);
            *out++ = input[best];
            if (positions) *positions++ = best;
          }
  }

 private:
  template <typename Fn>
  void for_each(const Span (&spans)[3], Fn&& fn) const {
    for (int64_t i = spans[0].begin; i < spans[0].end; i += axes_[0].dilation)
      for (int64_t j = spans[1].begin; j < spans[1].end; j += axes_[1].dilation)
        for (int64_t k = spans[2].begin; k < spans[2].end;
             k += axes_[2].dilation)
          fn((i * axes_[1].size + j) * axes_[2].size + k);
  }

  // The first greatest element; a NaN is greater than all.
  int64_t greatest(const T* plane, const Span (&spans)[3]) const {
    int64_t best = -1;
    T most{};
    for_each(spans, [&](int64_t at) {
      const T value = plane[at];
      if (best >= 0 && !(value > most) && value == value) return;
      best = at;
      most = value;
    });
    return best;
  }

  static double covered(const Span (&spans)[3]) {
    double elements = 1;
    for (const Span& span : spans) elements *= static_cast<double>(span.padded);
    return elements;
  }

  T average(const T* plane, const Span (&spans)[3]) const {
    double total = 0;
    int64_t count = 0;
    for_each(spans, [&](int64_t at) {
      total += static_cast<double>(plane[at]);
      ++count;
    });
    auto divisor = static_cast<double>(params_.divisor);
    if (params_.divisor == 0)
      divisor = params_.count_include_pad ? covered(spans)
                                          : static_cast<double>(count);
    return static_cast<T>(count == 0 ? 0 : total / divisor);
  }

  const PoolParams& params_;
  Axis axes_[3];
  std::vector<Span> windows_[3];
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
