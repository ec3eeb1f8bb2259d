// all_close: how NetMinimizer compares by default.
#include <cmath>

#include "fxjit/fx/passes/net_minimizer.h"

namespace fxjit::fx::passes {
namespace {

// The leaves of both in order; false when their structure differs.
bool flatten_pair(const Value& a, const Value& b,
                  std::vector<std::pair<Value, Value>>& leaves) {
  std::vector<Value> left, right;
  visit_leaves(a, [&](const Value& leaf) { left.push_back(leaf); });
  visit_leaves(b, [&](const Value& leaf) { right.push_back(leaf); });
  if (a.kind() != b.kind() || left.size() != right.size()) return false;
  for (size_t i = 0; i < left.size(); ++i)
    leaves.emplace_back(std::move(left[i]), std::move(right[i]));
  return true;
}

bool compare_tensors(const Tensor& a, const Tensor& b, double rtol, double atol,
                     double* worst) {
  if (!(a.sizes() == b.sizes())) return false;
  const std::vector<float> x = a.to_floats(), y = b.to_floats();
  bool close = true;
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]))) continue;
    const double distance = std::abs(double{x[i]} - double{y[i]});
    *worst = std::isnan(distance) ? HUGE_VAL : std::max(*worst, distance);
    close = close && distance <= atol + rtol * std::abs(double{x[i]});
  }
  return close;
}

}  // namespace

MinimizerCompare all_close(double rtol, double atol) {
  return [rtol, atol](const Value& a, const Value& b,
                      const std::vector<std::string>&) {
    double worst = 0;
    bool close = true;
    std::vector<std::pair<Value, Value>> leaves;
    if (!flatten_pair(a, b, leaves)) return std::pair(HUGE_VAL, false);
    for (const auto& [x, y] : leaves)
      close = (x.is_tensor() && y.is_tensor()
                   ? compare_tensors(x.as_tensor(), y.as_tensor(), rtol, atol,
                                     &worst)
                   : same(x, y)) &&
              close;
    return std::pair(worst, close);
  };
}

}  // namespace fxjit::fx::passes
