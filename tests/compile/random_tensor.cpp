#include <cmath>
#include <random>

#include "tests/compile/compile_testing.h"

namespace fxjit::testing {

Tensor random_tensor(const Dims& sizes, DType dtype, uint32_t seed) {
  std::mt19937 random(seed);
  Tensor made = Tensor::empty(sizes, DType::f64);
  double* const values = made.data_as<double>();
  const bool whole = is_integral(dtype);
  for (int64_t i = 0; i < made.numel(); ++i) {
    const double unit = static_cast<double>(random()) / 4294967296.0;
    values[i] = whole ? std::floor(unit * 16) - 8 : unit * 4 - 2;
    if (dtype == DType::u8) values[i] = std::floor(unit * 8);
    if (dtype == DType::boolean) values[i] = unit < 0.5;
  }
  return made.to(dtype);
}

}  // namespace fxjit::testing
