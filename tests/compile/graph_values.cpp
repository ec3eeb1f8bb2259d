#include "tests/compile/graph_values.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "fxjit/op.h"

namespace fxjit::testing {
namespace {

// What jumps keeps this distance from its jumps.
constexpr double kMargin = 1e-3;

std::vector<double> numbers(const Tensor& t) {
  const Tensor wide = t.to(DType::f64).contiguous();
  const double* first = wide.data_as<double>();
  return {first, first + wide.numel()};
}

}  // namespace

bool is_float(const Tensor& t) { return is_floating(t.dtype()); }

bool all_of(const Tensor& t, const std::function<bool(double)>& holds) {
  const std::vector<double> values = numbers(t);
  return std::all_of(values.begin(), values.end(),
                     [&](double v) { return !std::isfinite(v) || holds(v); });
}

bool far_from_zero(const Tensor& t) {
  return all_of(t, [](double v) { return std::abs(v) > 0.1; });
}

bool far_from_integers(const Tensor& t, double shift) {
  return all_of(t, [&](double v) {
    const double at = v + shift;
    return std::abs(at - std::nearbyint(at)) > kMargin;
  });
}

bool all_apart(const Tensor& t) {
  std::vector<double> values = numbers(t);
  std::ranges::sort(values);
  return std::ranges::adjacent_find(values, [](double a, double b) {
           return b - a < kMargin;
         }) == values.end();
}

bool apart(const Tensor& x, const Tensor& y) {
  if (!is_float(y)) return false;
  const ops::Op& sub = ops::get_op("sub");
  const std::vector<Value> args = ops::bind(sub, ValueList{x, y}, {});
  return all_of(ops::run_eager({sub, args}).as_tensor(),
                [](double v) { return std::abs(v) > kMargin; });
}

}  // namespace fxjit::testing
