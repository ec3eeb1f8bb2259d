#include "fxjit/nn/init.h"

#include <random>
#include <utility>

namespace fxjit::nn {
namespace {

thread_local bool skip_init = false;

std::mt19937_64& generator() {
  thread_local std::mt19937_64 engine(0);
  return engine;
}

template <typename Draw>
Tensor filled(const Dims& sizes, const Draw& draw) {
  if (skip_init) return Tensor::meta(sizes, DType::f32);
  Tensor tensor = Tensor::empty(sizes, DType::f32);
  float* const data = tensor.data_as<float>();
  for (int64_t i = 0, n = tensor.numel(); i < n; ++i) data[i] = draw();
  return tensor;
}

}  // namespace

void manual_seed(uint64_t seed) { generator().seed(seed); }

SkipInit::SkipInit() : previous_(std::exchange(skip_init, true)) {}
SkipInit::~SkipInit() { skip_init = previous_; }

namespace init {

Tensor constant(const Dims& sizes, double value) {
  return filled(sizes, [v = static_cast<float>(value)] { return v; });
}

Tensor uniform(const Dims& sizes, double bound) {
  const auto limit = static_cast<float>(bound);
  std::uniform_real_distribution<float> distribution(-limit, limit);
  return filled(sizes, [&] { return distribution(generator()); });
}

Tensor normal(const Dims& sizes) {
  std::normal_distribution<float> distribution;
  return filled(sizes, [&] { return distribution(generator()); });
}

}  // namespace init
}  // namespace fxjit::nn
