#include "tools/fxjit/results.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "fxjit/fx/pytree.h"
#include "tools/fxjit/doubles.h"

namespace fxjit::command {
namespace {

double difference(const Tensor& a, const Tensor& b) {
  const Tensor x = doubles_of(a);
  const Tensor y = doubles_of(b);
  double largest = 0, error = 0;
  for (int64_t k = 0; k < x.numel(); ++k) {
    const double p = x.data_as<double>()[k], q = y.data_as<double>()[k];
    if (std::isfinite(p)) largest = std::max(largest, std::abs(p));
    if (p == q || (std::isnan(p) && std::isnan(q))) continue;
    if (!std::isfinite(p) || !std::isfinite(q))
      return std::numeric_limits<double>::infinity();
    largest = std::max(largest, std::abs(q));
    error = std::max(error, std::abs(p - q));
  }
  return largest > 0 ? error / largest : error;
}

}  // namespace

ValueList kept_tensors(const Value& result) {
  ValueList tensors;
  for (const Value& leaf : fx::tree_leaves(result))
    if (leaf.is_tensor()) tensors.emplace_back(leaf.as_tensor().clone());
  return tensors;
}

double difference(const ValueList& a, const ValueList& b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i)
    largest = std::max(largest, difference(a[i].as_tensor(), b[i].as_tensor()));
  return largest;
}

std::string unlike(const ValueList& a, const ValueList& b, double tolerance) {
  if (a.size() != b.size())
    return "gives " + std::to_string(b.size()) + " tensors, not " +
           std::to_string(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    const Tensor &x = a[i].as_tensor(), &y = b[i].as_tensor();
    const std::string which = "result " + std::to_string(i);
    if (x.sizes() != y.sizes())
      return which + " has sizes " + y.sizes().str() + ", not " +
             x.sizes().str();
    const double error = difference(x, y);
    if (error <= tolerance) continue;
    char text[128];
    std::snprintf(text, sizeof(text), "%s differs by %.1e (--tolerance %.0e)",
                  which.c_str(), error, tolerance);
    return text;
  }
  return "";
}

}  // namespace fxjit::command
