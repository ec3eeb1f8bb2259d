// What post-ops come to in double precision.
#pragma once

#include <cmath>
#include <vector>

#include "fxjit/tensor.h"
#include "src/ops/eager/post_ops.h"
#include "tests/kernels/kernel_test_util.h"

namespace fxjit::kernels::testing {

inline double post_oracle(const ops::PostOp& op, double x, double extra) {
  using ops::PostKind;
  const double a = op.a, b = op.b;
  const auto clip = [](double v, double low, double high) {
    return std::isnan(v) ? v : std::fmax(std::fmin(v, high), low);
  };
  switch (op.kind) {
    case PostKind::relu:
      return std::isnan(x) ? x : std::fmax(x, 0);
    case PostKind::leaky_relu:
      return x < 0 ? x * a : x;
    case PostKind::prelu:
      return x > a ? x : x * extra;
    case PostKind::clip:
      return clip(x, a, b);
    case PostKind::hardsigmoid:
      return clip(x + 3, 0, 6) / 6;
    case PostKind::hardswish:
      return x * clip(x + 3, 0, 6) / 6;
    case PostKind::sigmoid:
      return 1 / (1 + std::exp(-x));
    case PostKind::silu:
      return x / (1 + std::exp(-x));
    case PostKind::affine:
      return x * a + b;
    case PostKind::add:
      return x + extra;
    case PostKind::multiply:
      return x * extra;
    case PostKind::gelu:
      return x * std::erfc(-x / std::sqrt(2.0)) / 2;
  }
  return x;
}

// In place on [places, channels].
inline void post_oracle(const ops::PostOps& work,
                        const std::vector<Tensor>& extras, int64_t channels,
                        std::vector<double>& values) {
  for (const ops::PostOp& op : work) {
    std::vector<double> extra;
    if (op.tensor >= 0) extra = doubles(extras[static_cast<size_t>(op.tensor)]);
    for (size_t i = 0; i < values.size(); ++i) {
      const size_t at =
          extra.size() == static_cast<size_t>(channels) ? i % extra.size() : i;
      values[i] = post_oracle(op, values[i], extra.empty() ? 0 : extra[at]);
    }
  }
}

}  // namespace fxjit::kernels::testing
