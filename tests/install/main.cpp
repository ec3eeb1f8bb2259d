// A user's program: the installed package must be enough to trace, print, run
// and compile a function, to add an elementwise op and a kernel, and to catch
// errors across the library's border.
#include <cmath>
#include <cstdio>
#include <vector>

#include "fxjit/functions.h"
#include "fxjit/fx/symbolic_trace.h"
#include "fxjit/fxjit.h"
#include "fxjit/op.h"
#include "fxjit/scalar_args.h"
#include "fxjit/version.h"

namespace {

using fxjit::ops::OpCall;

fxjit::Scalar squares(fxjit::ScalarBuilder& builder, const OpCall& call,
                      std::span<const fxjit::Scalar> inputs) {
  const fxjit::ops::ScalarArgs args(builder, call, inputs);
  return args[0] * args[0] + args[1] * args[1];
}

fxjit::Value like_input(const OpCall& call) {
  return fxjit::Tensor::meta(call.tensor(0).sizes(), fxjit::DType::f32);
}

void running_sum(const OpCall& call, std::span<const fxjit::Tensor> results) {
  const fxjit::Tensor input = call.tensor(0).contiguous();
  float sum = 0;
  for (int64_t i = 0; i < input.numel(); ++i)
    results[0].data_as<float>()[i] = sum += input.data_as<float>()[i];
}

constexpr fxjit::ops::OpRow kRows[] = {
    {.name = "outside.squares",
     .schema = "input, other",
     .names = "outside.squares",
     .lowering = fxjit::ops::Lowering::scalar,
     .scalar = squares,
     .scalar_types = fxjit::ops::ScalarTypes::promote_float},
    {.name = "outside.running_sum",
     .schema = "input",
     .names = "outside.running_sum .running_sum",
     .infer = like_input,
     .direct = running_sum}};

// Sums of x * x + y * y + 2 * 2 so far.
fxjit::Value added_ops(fxjit::Value x, fxjit::Value y) {
  const fxjit::Value both = fxjit::function("outside.squares", {x, y});
  const fxjit::Value last =
      fxjit::function("outside.squares", {fxjit::sqrt(both), 2});
  return fxjit::method(last, "running_sum");
}

bool adds_ops(const fxjit::Tensor& x, const fxjit::Tensor& y) {
  fxjit::ops::register_ops(kRows);
  auto gm = fxjit::fx::symbolic_trace(added_ops, {"x", "y"}, "added_ops");
  fxjit::compile(*gm);
  const fxjit::Tensor result = gm(x, y).as_tensor();
  std::printf("%s", fxjit::report(*gm).c_str());
  const double expected[] = {9, 18, 47};
  for (int i = 0; i < 3; ++i)
    if (std::abs(result.at({i}) - expected[i]) > 1e-4) return false;
  return fxjit::report(*gm).find("running_sum") != std::string::npos;
}

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

// Whether a common layer needs no compiler: the installed tree has its kernels.
bool has_kernels() {
  const auto layer = [w = fxjit::Tensor::zeros({16, 8})](fxjit::Value x) {
    return fxjit::relu(fxjit::nn::functional::linear(x, w));
  };
  auto gm = fxjit::fx::symbolic_trace(layer, {"x"}, "layer");
  fxjit::CompileOptions options;
  options.cache_folder = "";
  fxjit::compile(*gm, options);
  const fxjit::ValueList inputs{fxjit::Tensor::zeros({4, 8})};
  gm(inputs[0]);
  return fxjit::profile(*gm, inputs, 1).from_disk_cache;
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
  if (!adds_ops(x, y)) return 4;
  std::printf("kernels of the installed tree: %s\n",
              has_kernels() ? "found" : "none");
  return 0;
}
