#include "src/check/numbers.h"

#include <algorithm>
#include <cmath>

#include "fxjit/functions.h"

namespace fxjit::checking {

std::vector<double> numbers(const Tensor& t) {
  if (is_complex(t.dtype()))
    return numbers(
        function("torch.view_as_real", {t.contiguous()}).as_tensor());
  const Tensor wide = t.to(DType::f64).contiguous();
  const double* first = wide.data_as<double>();
  return {first, first + wide.numel()};
}

double greatest_of(const std::vector<double>& values) {
  double greatest = 0;
  for (const double value : values)
    if (std::isfinite(value)) greatest = std::max(greatest, std::abs(value));
  return greatest;
}

}  // namespace fxjit::checking
