#include "bench/graphs.h"

#include <cmath>
#include <random>
#include <string>

namespace fxjit::bench {

namespace F = nn::functional;

namespace {

// A linear layer whose weights are constants of the traced function.
class Layer {
 public:
  Layer(const TensorSource& source, const std::string& name, int64_t in,
        int64_t out)
      : weight_(source(name + ".weight", {out, in})),
        bias_(source(name + ".bias", {out})) {}
  Value operator()(const Value& x) const {
    return F::linear(x, weight_, bias_);
  }

 private:
  Tensor weight_, bias_;
};

Value norm(const Value& x, int64_t columns) {
  return F::layer_norm(x, Value::tuple({columns}));
}

Value chain_op(int i, const Value& x, const Value& y) {
  switch (i % 6) {
    case 0:
      return x * y;
    case 1:
      return x + 0.25;
    case 2:
      return F::gelu(x);
    case 3:
      return maximum(x, y);
    case 4:
      return tanh(x);
    default:
      return x - y;
  }
}

}  // namespace

Tensor random_tensor(std::string_view name, const Dims& sizes) {
  // FNV-1a: standard hashes may differ between libraries.
  uint32_t seed = 2166136261u;
  for (char c : name) seed = (seed ^ static_cast<unsigned char>(c)) * 16777619u;
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> value(-1, 1);
  const float scale =
      sizes.size() < 2 ? 1 : 1 / std::sqrt(static_cast<float>(sizes.back()));
  Tensor t = Tensor::empty(sizes);
  auto* values = t.data_as<float>();
  for (int64_t i = 0; i < t.numel(); ++i) values[i] = value(random) * scale;
  return t;
}

Workload elementwise_chain(int ops, int64_t elements) {
  const auto f = [ops](Value x, Value y) {
    for (int i = 0; i < ops; ++i) x = chain_op(i, x, y);
    return x;
  };
  return {fx::symbolic_trace(f, {"x", "y"}),
          {random_tensor("x", {elements}), random_tensor("y", {elements})}};
}

Workload softmax(int64_t rows, int64_t columns) {
  const auto f = [](Value x) { return fxjit::softmax(x, -1); };
  return {fx::symbolic_trace(f, {"x"}), {random_tensor("x", {rows, columns})}};
}

Workload residual_norm(int64_t rows, int64_t columns) {
  const auto f = [columns](Value x, Value y) { return norm(x + y, columns); };
  return {fx::symbolic_trace(f, {"x", "y"}),
          {random_tensor("x", {rows, columns}),
           random_tensor("y", {rows, columns})}};
}

Workload gelu_mlp(int64_t rows, int64_t width, int64_t hidden) {
  const auto f = [up = Layer(random_tensor, "up", width, hidden),
                  down = Layer(random_tensor, "down", hidden, width)](Value x) {
    return down(F::gelu(up(x)));
  };
  return {fx::symbolic_trace(f, {"x"}), {random_tensor("x", {rows, width})}};
}

Workload attention(int64_t heads, int64_t tokens, int64_t depth) {
  const auto f = [](Value q, Value k, Value v) {
    return F::scaled_dot_product_attention(q, k, v);
  };
  const Dims sizes{1, heads, tokens, depth};
  return {fx::symbolic_trace(f, {"q", "k", "v"}),
          {random_tensor("q", sizes), random_tensor("k", sizes),
           random_tensor("v", sizes)}};
}

Workload gated(const TensorSource& source) {
  const auto f = [](Value x, Value y) {
    return sigmoid(x * y + 0.5) * tanh(x - y) + F::gelu(y);
  };
  constexpr int64_t kSize = 1024;
  return {fx::symbolic_trace(f, {"x", "y"}),
          {source("x", {kSize, kSize}), source("y", {kSize, kSize})}};
}

Workload norm_softmax(const TensorSource& source) {
  constexpr int64_t kRows = 512, kColumns = 1024;
  const auto f = [](Value x) {
    return fxjit::softmax(norm(x + F::gelu(norm(x, kColumns)), kColumns), -1);
  };
  return {fx::symbolic_trace(f, {"x"}), {source("x", {kRows, kColumns})}};
}

Workload mlp(const TensorSource& source) {
  constexpr int64_t kWidth = 256;
  std::vector<Layer> layers;
  for (const char* name : {"layers.0", "layers.1", "layers.2", "layers.3"})
    layers.emplace_back(source, name, kWidth, kWidth);
  const auto f = [layers](Value x) {
    for (size_t i = 0; i + 1 < layers.size(); ++i) x = relu(layers[i](x));
    return layers.back()(x);
  };
  return {fx::symbolic_trace(f, {"x"}), {source("x", {1, kWidth})}};
}

Workload swiglu(const TensorSource& source) {
  constexpr int64_t kWidth = 768, kHidden = 3072;
  const auto f = [gate = source("gate.weight", {kHidden, kWidth}),
                  up = source("up.weight", {kHidden, kWidth}),
                  down = source("down.weight", {kWidth, kHidden}),
                  scale = source("scale", {kWidth})](Value x) {
    const Value n = F::rms_norm(x, Value::tuple({kWidth}), scale, 1e-6);
    return x + F::linear(F::silu(F::linear(n, gate)) * F::linear(n, up), down);
  };
  return {fx::symbolic_trace(f, {"x"}), {source("x", {1, kWidth})}};
}

}  // namespace fxjit::bench
