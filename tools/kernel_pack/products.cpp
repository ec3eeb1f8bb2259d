// Products of every height and width of a register tile with the work that
// commonly follows them.
#include <string>

#include "tools/kernel_pack/corpus.h"

namespace fxjit::corpus {
namespace {

namespace F = nn::functional;

// Two rows of full panels beside each other, and partial panels of each number
// of vectors, at every CPU level.
constexpr int64_t kWidths[] = {320, 56, 48, 32, 16, 12, 8, 6};
// Heights of tiles, alone and below each other.
constexpr int64_t kRows[] = {1, 2, 3, 4, 5, 6, 7, 9, 11, 13, 15, 16};
constexpr int64_t kDepth = 64;
// Few rows cut the depth into parts where it divides by them.
constexpr int64_t kOtherDepths[] = {kDepth + 2, kDepth + 1};

// What follows the sums; `other` is a tensor of their shape.
using Epilogue = std::function<Value(const Value& sums, const Value& other)>;

struct LayerKind {
  Epilogue epilogue;
  bool bias;
  bool other;
};

Value first(const Value& sums, const Value&) { return sums; }

template <Value (*f)(const Arg&, bool)>
Value activation(const Value& sums, const Value&) {
  return f(sums, false);
}

Value gelu(const Value& x, const Value&) { return F::gelu(x); }
Value gelu_tanh(const Value& x, const Value&) { return F::gelu(x, "tanh"); }
Value sigmoid(const Value& x, const Value&) { return fxjit::sigmoid(x); }
Value tanh(const Value& x, const Value&) { return fxjit::tanh(x); }
Value relu(const Value& x, const Value&) { return fxjit::relu(x); }

// As WaveNet gates.
Value tanh_gate(const Value& x, const Value& y) { return fxjit::tanh(x) * y; }

std::vector<LayerKind> layer_kinds() {
  const auto sum = [](const Value& x, const Value& y) { return x + y; };
  const auto sum_of = [](const Value& x, const Value& y) { return y + x; };
  const auto sum_relu = [](const Value& x, const Value& y) {
    return fxjit::relu(x + y);
  };
  const auto gated = [](const Value& x, const Value& y) {
    return F::silu(y) * x;
  };
  const auto gates = [](const Value& x, const Value& y) {
    return F::silu(x) * y;
  };
  return {
      {first, true, false},
      {first, false, false},
      {relu, true, false},
      {relu, false, false},
      {activation<F::relu6>, true, false},
      {activation<F::silu>, true, false},
      {activation<F::hardswish>, true, false},
      {activation<F::hardsigmoid>, true, false},
      {gelu, true, false},
      {gelu_tanh, true, false},
      {gelu, false, false},
      {activation<F::silu>, false, false},
      {sigmoid, true, false},
      {tanh, true, false},
      {sum, true, true},
      {sum_of, true, true},
      {sum, false, true},
      {sum_of, false, true},
      {sum_relu, true, true},
      {gated, false, true},
      {gates, false, true},
      {tanh_gate, true, true},
  };
}

Value product(const Value& x, const LayerKind& kind, Tensor weight,
              const Value& other) {
  const int64_t out = weight.sizes()[0];
  const Value sums =
      kind.bias ? F::linear(x, weight, weights({out})) : F::linear(x, weight);
  return kind.epilogue(sums, other);
}

// Inputs are one tensor for each width, then the others of each.
Value layers(const LayerKind& kind, int64_t depth,
             const std::vector<Value>& in) {
  ValueList results;
  const size_t count = std::size(kWidths);
  for (size_t i = 0; i < count; ++i)
    results.push_back(product(in[i], kind, weights({kWidths[i], depth}),
                              kind.other ? in[count + i] : Value()));
  return Value::tuple(std::move(results));
}

std::vector<Tensor> layer_inputs(const LayerKind& kind, int64_t rows,
                                 int64_t depth) {
  std::vector<Tensor> inputs(std::size(kWidths), floats({rows, depth}));
  if (kind.other)
    for (int64_t width : kWidths) inputs.push_back(floats({rows, width}));
  return inputs;
}

void add_layers(Corpus& to, const LayerKind& kind) {
  std::vector<std::vector<Tensor>> shapes;
  for (int64_t rows : kRows) shapes.push_back(layer_inputs(kind, rows, kDepth));
  to.add([kind](std::vector<Value> in) { return layers(kind, kDepth, in); },
         std::move(shapes));
  for (int64_t depth : kOtherDepths)
    to.add([kind,
            depth](std::vector<Value> in) { return layers(kind, depth, in); },
           {layer_inputs(kind, 1, depth)});
}

// Weights that are kept in fewer bits, for single rows.
void add_large(Corpus& to, const LayerKind& kind) {
  for (int64_t width : {640, 680, 672, 656, 648}) {
    const int64_t depth = 1024;
    std::vector<Tensor> inputs;
    inputs.push_back(floats({1, depth}));
    if (kind.other) inputs.push_back(floats({1, width}));
    to.add(
        [=](std::vector<Value> in) {
          return product(in[0], kind, full_weights({width, depth}),
                         kind.other ? in[1] : Value());
        },
        {inputs});
  }
}

// Products of two inputs.
void add_batched(Corpus& to) {
  const auto bmm = [](std::vector<Value> in) { return matmul(in[0], in[1]); };
  const auto transposed = [](std::vector<Value> in) {
    return matmul(in[0], transpose(in[1], -2, -1));
  };
  std::vector<std::vector<Tensor>> shapes, others;
  for (int64_t rows : kRows)
    for (int64_t width : kWidths) {
      shapes.push_back({floats({2, rows, kDepth}), floats({2, kDepth, width})});
      others.push_back({floats({2, rows, kDepth}), floats({2, width, kDepth})});
    }
  to.add(bmm, shapes);
  to.add(transposed, others);
}

}  // namespace

void add_products(Corpus& to) {
  for (const LayerKind& kind : layer_kinds()) {
    add_layers(to, kind);
    add_large(to, kind);
  }
  add_batched(to);
}

}  // namespace fxjit::corpus
