#include "tests/compile/program_models.h"

#include <limits>

#include "fxjit/functions.h"
#include "fxjit/nn.h"
#include "tests/compile/compile_testing.h"
#include "tests/compile/models.h"

namespace fxjit::testing {

namespace F = nn::functional;

namespace {

Traced traced(const nn::ModuleRef& model, ValueList inputs) {
  model->eval();
  return {fx::symbolic_trace(model), std::move(inputs)};
}

}  // namespace

Traced mlp() {
  return traced(
      nn::Sequential::create(nn::Linear::create(300, 600), nn::GELU::create(),
                             nn::Linear::create(600, 10)),
      {random_tensor({3, 300})});
}

Traced transformer() {
  nn::TransformerOptions options;
  options.dim_feedforward = 64;
  options.dropout = 0;
  options.batch_first = true;
  return traced(nn::Sequential::create(
                    nn::TransformerEncoderLayer::create(32, 4, options)),
                {random_tensor({2, 9, 32})});
}

Traced layers() {
  nn::TransformerOptions options;
  options.dim_feedforward = 64;
  options.dropout = 0;
  options.batch_first = true;
  const auto layer = [&] {
    return nn::TransformerEncoderLayer::create(32, 4, options);
  };
  const auto tied = nn::Linear::create(32, 32);
  return traced(nn::Sequential::create(layer(), layer(), tied,
                                       nn::GELU::create(), tied, layer()),
                {random_tensor({2, 9, 32})});
}

// An image convolution, a depthwise one, one of 3 x 3, pooling; some of the
// work behind them is generated.
Traced convolutions() {
  return traced(
      nn::Sequential::create(
          nn::Conv2d::create(3, 16, 3), nn::GELU::create(),
          nn::Conv2d::create(16, 16, 3,
                             nn::ConvOptions{.padding = 1, .groups = 16}),
          nn::GELU::create(), nn::Conv2d::create(16, 32, 3), nn::ReLU::create(),
          nn::MaxPool2d::create(2), nn::Conv2d::create(32, 8, 5)),
      {random_tensor({2, 3, 24, 24})});
}

Traced recurrent() {
  nn::RecurrentOptions options;
  options.bidirectional = true;
  return traced(nn::Sequential::create(nn::LSTM::create(12, 20, options)),
                {random_tensor({5, 2, 12})});
}

// A loop around a product, and a branch.
Traced control_flow() {
  const auto linear = nn::Linear::create(64, 64);
  const auto model =
      nn::lambda("Model", {"n", "x"},
                 [linear](Value n, Value x) {
                   const Value looped = while_loop(
                       [n](Value i, Value) { return i < n; },
                       [linear](Value i, Value x) {
                         const Value next = i + 1;
                         return Value::tuple({next, relu(linear(x))});
                       },
                       {Tensor::full({}, 0, DType::i64), x});
                   return cond(
                       n > 2, [](Value x) { return x * 2; },
                       [](Value x) { return tanh(x); }, {looped.at(1)});
                 },
                 {{"linear", linear}});
  return traced(model,
                {Tensor::full({}, 3, DType::i64), Tensor::full({2, 64}, 0.5)});
}

// Writes to an input, in place and whole, a copy of short runs, running sums.
Traced writes() {
  return {
      fx::symbolic_trace(
          [](Value cache, Value other, Value x) {
            method(cache, "index_copy_",
                   {0, Tensor::from(std::vector<int64_t>{1}, {1}), x});
            method(other, "mul_", {2});
            return cumsum(permute(x, {0, 2, 1}) + 1, 1);
          },
          {"cache", "other", "x"}),
      {random_tensor({4, 6, 5}), random_tensor({7}), random_tensor({1, 6, 5})}};
}

Traced windows() { return traced(make_windows(), {random_tensor({1, 64, 8})}); }

// A depthwise convolution and pooling of an image as it is given.
Traced planes() {
  return traced(nn::Sequential::create(
                    nn::Conv2d::create(
                        6, 12, 3, nn::ConvOptions{.padding = 1, .groups = 6}),
                    nn::SiLU::create(), nn::MaxPool2d::create(2)),
                {random_tensor({2, 6, 24, 24})});
}

// An image at twice its size, and its sigmoid.
Traced resized() {
  return {fx::symbolic_trace(
              [](Value x) {
                return sigmoid(F::interpolate(x, None, 2.0, "bilinear"));
              },
              {"x"}),
          {random_tensor({2, 3, 12, 17})}};
}

// Images of few pixels and many channels, for the transforms.
Traced transformed() {
  return traced(
      nn::Sequential::create(
          nn::Conv2d::create(32, 64, 3, nn::ConvOptions{.padding = 1}),
          nn::ReLU::create()),
      {random_tensor({1, 32, 28, 28})});
}

// Queries that see some of the keys.
Traced masked() {
  return {
      fx::symbolic_trace(
          [](Value x, Value mask) {
            return F::scaled_dot_product_attention(x, x, x, mask);
          },
          {"x", "mask"}),
      {random_tensor({2, 4, 9, 16}), random_tensor({9, 9}, DType::boolean)}};
}

// Matrices packed while the program runs.
Traced activations() {
  return {fx::symbolic_trace([](Value x, Value y) { return matmul(x, y); },
                             {"x", "y"}),
          {random_tensor({2, 9, 20}), random_tensor({2, 20, 12})}};
}

// A weight that may be kept in fewer bits, as one row uses it.
Traced one_row() {
  return {
      fx::symbolic_trace([weight = Value(random_tensor({768, 768}))](
                             Value x) { return F::gelu(F::linear(x, weight)); },
                         {"x"}),
      {random_tensor({1, 768})}};
}

// Products, sums and elementwise work in both half types.
Traced halves() {
  const Value b = random_tensor({32, 40}, DType::bf16);
  const Value f = random_tensor({32, 40}, DType::f16);
  return {fx::symbolic_trace(
              [=](Value x, Value y) {
                return Value::tuple({F::linear(x, b), F::linear(y, f),
                                     softmax(x, -1), sum(y, 0), x + 1});
              },
              {"x", "y"}),
          {random_tensor({70, 40}, DType::bf16),
           random_tensor({70, 40}, DType::f16)}};
}

// Sums over an outer dim, to which infinity is added.
Traced columns() {
  return {fx::symbolic_trace(
              [](Value x) {
                return sum(x, 1) + std::numeric_limits<double>::infinity();
              },
              {"x"}),
          {random_tensor({3, 50, 70})}};
}

// Elements and rows picked by an index.
Traced gathers() {
  const Value table = random_tensor({11, 24});
  const Tensor index = Tensor::from(std::vector<int64_t>{3, 0, 2, 1}, {2, 2});
  return {fx::symbolic_trace(
              [=](Value x, Value i) {
                return Value::tuple(
                    {gather(x, 1, i) * 2, F::embedding(i, table) + 1});
              },
              {"x", "i"}),
          {random_tensor({4, 6}), index}};
}
// Products of 8-bit integers by a constant matrix.
Traced integers() {
  const Value w = random_tensor({20, 12}, DType::i8);
  return {fx::symbolic_trace(
              [w](Value x) { return function("fxjit.integer_matmul", {x, w}); },
              {"x"}),
          {random_tensor({9, 20}, DType::u8)}};
}

}  // namespace fxjit::testing
