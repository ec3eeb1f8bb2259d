// The graphs that the benchmarks run: small, common pieces of models, traced
// from C++. Where their weights and inputs come from is the caller's choice.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"

namespace fxjit::bench {

struct Workload {
  nn::Ref<fx::GraphModule> module;
  std::vector<Value> inputs;
};

// Gives the f32 weight or input of this name and these sizes.
using TensorSource = std::function<Tensor(std::string_view, const Dims&)>;

// Uniform in [-1, 1), divided by the square root of the last size where there
// are two or more; the same for the same name.
Tensor random_tensor(std::string_view name, const Dims& sizes);

// `ops` elementwise ops on two tensors of `elements` floats.
Workload elementwise_chain(int ops, int64_t elements);
Workload softmax(int64_t rows, int64_t columns);
// layernorm(x + residual).
Workload residual_norm(int64_t rows, int64_t columns);
// Two linear layers with gelu between.
Workload gelu_mlp(int64_t rows, int64_t width, int64_t hidden);
// scaled_dot_product_attention, one batch.
Workload attention(int64_t heads, int64_t tokens, int64_t depth);

// The graphs of bench/peers/workloads.py, names of weights as there.
// sigmoid(x * y + 0.5) * tanh(x - y) + gelu(y), 1024 x 1024.
Workload gated(const TensorSource& source = random_tensor);
// softmax(layernorm(x + gelu(layernorm(x)))), 512 x 1024.
Workload norm_softmax(const TensorSource& source = random_tensor);
// Four linear layers of 256 with relu between, one row.
Workload mlp(const TensorSource& source = random_tensor);
// x + down(silu(gate(n)) * up(n)), n = rmsnorm(x), one row of 768, hidden 3072.
Workload swiglu(const TensorSource& source = random_tensor);

}  // namespace fxjit::bench
