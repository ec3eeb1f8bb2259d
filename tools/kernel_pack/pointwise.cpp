// Elementwise functions, reductions and copies, with operands of the shapes
// that models have.
#include "tools/kernel_pack/corpus.h"

namespace fxjit::corpus {
namespace {

namespace F = nn::functional;

using Inputs = std::vector<Value>;

void add_unary(Corpus& to) {
  using Unary = Value (*)(const Value&);
  const Unary functions[] = {
      [](const Value& x) { return relu(x); },
      [](const Value& x) { return sigmoid(x); },
      [](const Value& x) { return tanh(x); },
      [](const Value& x) { return exp(x); },
      [](const Value& x) { return F::gelu(x); },
      [](const Value& x) { return F::gelu(x, "tanh"); },
      [](const Value& x) { return F::silu(x); },
      [](const Value& x) { return F::relu6(x); },
      [](const Value& x) { return F::hardswish(x); },
      [](const Value& x) { return F::softplus(x); },
      [](const Value& x) { return clone(x); },
      [](const Value& x) { return neg(x); },
      [](const Value& x) { return sqrt(x); },
      [](const Value& x) { return rsqrt(x); },
      [](const Value& x) { return abs(x); },
  };
  for (Unary f : functions)
    to.add([f](Inputs in) { return f(in[0]); }, {{floats({4, 64})}});
}

void add_binary(Corpus& to) {
  using Binary = Value (*)(const Value&, const Value&);
  const Binary functions[] = {
      [](const Value& x, const Value& y) { return x + y; },
      [](const Value& x, const Value& y) { return x - y; },
      [](const Value& x, const Value& y) { return x * y; },
      [](const Value& x, const Value& y) { return x / y; },
      [](const Value& x, const Value& y) { return relu(x + y); },
      [](const Value& x, const Value& y) { return F::silu(x) * y; },
      [](const Value& x, const Value& y) { return F::gelu(x) * y; },
      [](const Value& x, const Value& y) { return x * sigmoid(y); },
      [](const Value& x, const Value& y) { return maximum(x, y); },
      [](const Value& x, const Value& y) { return minimum(x, y); },
  };
  for (Binary f : functions)
    to.add([f](Inputs in) { return f(in[0], in[1]); },
           {{floats({4, 80}), floats({4, 80})},
            {floats({4, 80}), floats({80})},
            {floats({4, 80}), floats({4, 1})},
            {floats({4, 80}), floats({})}});
}

void add_copies(Corpus& to) {
  to.add([](Inputs in) { return clone(transpose(in[0], 1, 2)); },
         {{floats({2, 33, 4, 16})}, {floats({2, 33, 40})}});
  to.add([](Inputs in) { return cat(Value::list({in[0], in[1]}), -1); },
         {{floats({4, 40}), floats({4, 72})}, {floats({40}), floats({72})}});
  to.add(
      [](Inputs in) {
        return clone(permute(in[0], Value::tuple({0, 2, 3, 1})));
      },
      {{floats({2, 24, 14, 14})}, {floats({2, 3, 32, 32})}});
  to.add(
      [](Inputs in) {
        return clone(permute(in[0], Value::tuple({0, 3, 1, 2})));
      },
      {{floats({2, 14, 14, 24})}, {floats({2, 32, 32, 3})}});
}

}  // namespace

void add_pointwise(Corpus& to) {
  add_unary(to);
  add_binary(to);
  add_copies(to);
}

}  // namespace fxjit::corpus
