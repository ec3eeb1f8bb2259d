#include "tests/compile/process_models.h"

#include "fxjit/fx.h"
#include "fxjit/functions.h"
#include "fxjit/functions_structured.h"
#include "fxjit/nn.h"
#include "tests/compile/compile_testing.h"

namespace fxjit::testing {
namespace {

namespace F = nn::functional;

ProcessModel dense(double scale) {
  const Tensor up = random_tensor({64, 32}), down = random_tensor({32, 64});
  return {"dense",
          fx::symbolic_trace(
              [=](Value x) {
                const Value hidden = F::gelu(F::linear(x, up)) * scale;
                return softmax(F::linear(hidden, down) + x, -1);
              },
              {"x"}, "dense"),
          {random_tensor({9, 32})}};
}

// Of a stride that oneDNN computes, one of Winograd's, and a pooling.
ProcessModel images(double scale) {
  const Tensor first = random_tensor({8, 3, 5, 5});
  const Tensor second = random_tensor({8, 8, 3, 3});
  return {"images",
          fx::symbolic_trace(
              [=](Value x) {
                Value y = F::relu(F::conv2d(x, first, None, 2)) * scale;
                y = F::conv2d(y, second, None, 1, 1);
                return F::max_pool2d(F::relu(y), 2);
              },
              {"x"}, "images"),
          {random_tensor({2, 3, 21, 21})}};
}

ProcessModel half_types(double scale) {
  const Tensor weight = random_tensor({48, 32}, DType::bf16);
  return {"half_types",
          fx::symbolic_trace(
              [=](Value x) { return F::linear(x, weight) * scale; }, {"x"},
              "half_types"),
          {random_tensor({9, 32}, DType::bf16)}};
}

ProcessModel attention(double scale) {
  return {"attention",
          fx::symbolic_trace(
              [=](Value x) {
                const Value heads =
                    transpose(unflatten(x, 2, Value::tuple({4, 16})), 1, 2) *
                    scale;
                return F::scaled_dot_product_attention(heads, heads, heads);
              },
              {"x"}, "attention"),
          {random_tensor({2, 12, 64})}};
}

// Two parts around a node of the interpreter.
ProcessModel parts(double scale) {
  return {"parts",
          fx::symbolic_trace(
              [=](Value x) {
                return sum(masked_select(exp(x) * scale, x > 0), 0);
              },
              {"x"}, "parts"),
          {random_tensor({6, 7})}};
}

}  // namespace

std::vector<ProcessModel> process_models(int variant) {
  const double scale = 0.5 + variant / 1024.0;
  return {dense(scale), images(scale), half_types(scale), attention(scale),
          parts(scale)};
}

}  // namespace fxjit::testing
