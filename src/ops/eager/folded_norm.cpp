#include "src/ops/eager/folded_norm.h"

#include <algorithm>
#include <cmath>

#include "src/tensor/visit.h"

namespace fxjit::ops {
namespace {

double element(const Tensor& t, int64_t i, double otherwise) {
  return t.defined() ? t.at({i}) : otherwise;
}

}  // namespace

FoldedNorm::FoldedNorm(const Tensor& mean, const Tensor& var,
                       const Tensor& gamma, const Tensor& beta, double eps) {
  for (int64_t c = 0; c < mean.numel(); ++c) {
    scales_.push_back(element(gamma, c, 1) / std::sqrt(var.at({c}) + eps));
    means_.push_back(mean.at({c}));
    added_.push_back(element(beta, c, 0));
  }
}

bool FoldedNorm::is_finite() const {
  const auto all = [](const std::vector<double>& numbers) {
    return std::all_of(numbers.begin(), numbers.end(),
                       [](double x) { return std::isfinite(x); });
  };
  return all(scales_) && all(means_) && all(added_);
}

void FoldedNorm::scale(const Tensor& weight, void* out) const {
  if (scales_.empty()) return;
  const int64_t each = weight.numel() / static_cast<int64_t>(scales_.size());
  const Tensor dense = weight.contiguous();
  visit_dtype(weight.dtype(), [&](auto type) {
    using T = typename decltype(type)::type;
    const T* from = dense.data_as<const T>();
    T* to = static_cast<T*>(out);
    for (const double scale : scales_)
      for (int64_t i = 0; i < each; ++i)
        *to++ = convert<T>(convert<double>(*from++) * scale);
  });
}

Tensor FoldedNorm::bias(const Tensor& bias, DType dtype) const {
  const auto channels = static_cast<int64_t>(scales_.size());
  const Tensor wide = Tensor::empty({channels}, DType::f64);
  for (size_t i = 0; i < scales_.size(); ++i) {
    const auto c = static_cast<int64_t>(i);
    wide.data_as<double>()[c] =
        (element(bias, c, 0) - means_[i]) * scales_[i] + added_[i];
  }
  return wide.to(dtype);
}

}  // namespace fxjit::ops
