// A user's program: the installed package must be enough to trace, print, run
// and compile a function, and to catch its errors across the library's border.
#include <cmath>
#include <cstdio>
#include <vector>

#include "fxjit/compile.h"
#include "fxjit/fx/symbolic_trace.h"
#include "fxjit/fxjit.h"

namespace {

fxjit::Value model(fxjit::Value x, fxjit::Value y) {
  return fxjit::relu(x * y + 0.5);
}

bool right(const fxjit::Tensor& result) {
  const double expected[] = {2.5, 0, 12.5};
  for (int i = 0; i < 3; ++i) {
    if (std::abs(result.at({i}) - expected[i]) > 1e-6) return false;
  }
  return true;
}

bool catches_errors(const fxjit::Tensor& x) {
  try {
    fxjit::relu(fxjit::matmul(x, fxjit::Tensor::zeros({7, 7})));
  } catch (const fxjit::Error& error) {
    std::printf("caught: %s\n", error.what());
    return true;
  }
  return false;
}

}  // namespace

int main() {
  const auto x = fxjit::Tensor::from(std::vector<float>{1, -2, 3}, {3});
  const auto y = fxjit::Tensor::from(std::vector<float>{2, 1, 4}, {3});
  auto gm = fxjit::fx::symbolic_trace(model, {"x", "y"}, "model");
  std::printf("fxjit %s\n%s", FXJIT_VERSION_STRING, gm->code().c_str());
  if (!right(gm(x, y).as_tensor())) return 1;
  fxjit::compile(*gm);
  if (!right(gm(x, y).as_tensor())) return 2;
  if (!catches_errors(x)) return 3;
  return 0;
}
