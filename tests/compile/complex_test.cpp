// Compiled programs with complex tensors: calls on their parts are native code,
// transforms steps of the library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

using ::testing::HasSubstr;
using testing::random_tensor;

Value pairs_of(const Value& x) { return function("torch.view_as_real", {x}); }
Value complex_of(const Value& x) {
  return function("torch.view_as_complex", {x});
}

// A complex tensor of these sizes.
Tensor numbers(Dims sizes, uint32_t seed = 1) {
  sizes.push_back(2);
  return complex_of(random_tensor(sizes, DType::f32, seed)).as_tensor();
}

double distance(const Tensor& a, const Tensor& b) {
  if (a.describe() != b.describe() || a.strides() != b.strides())
    return std::numeric_limits<double>::infinity();
  const auto parts = [](const Tensor& t) {
    return (is_complex(t.dtype()) ? pairs_of(t).as_tensor() : t).to_floats();
  };
  const std::vector<float> x = parts(a), y = parts(b);
  double most = 0;
  for (size_t i = 0; i < x.size(); ++i)
    most = std::max<double>(most, std::abs(x[i] - y[i]));
  return most;
}

// The interpreter's result is native code's, too; `count` steps.
template <typename Fn>
void expect_native(const Fn& fn, const ValueList& inputs) {
  std::vector<nn::ArgSpec> names;
  for (size_t i = 0; i < inputs.size(); ++i)
    names.emplace_back("x" + std::to_string(i));
  const auto gm = fx::symbolic_trace(fn, nn::Signature(names), "f");
  compile(*gm, testing::options_for(host_cpu_level()));
  const Value got = gm->forward(inputs), expected = gm->interpret(inputs);
  const auto leaves = [](const Value& value) {
    return value.is_tensor() ? ValueList{value} : value.as_sequence();
  };
  for (size_t i = 0; i < leaves(expected).size(); ++i)
    EXPECT_LT(
        distance(leaves(got)[i].as_tensor(), leaves(expected)[i].as_tensor()),
        1e-5);
  EXPECT_THAT(report(*gm), ::testing::Not(HasSubstr("interpreter")));
}

TEST(Complex, RotaryPositions) {
  expect_native(
      [](Value x, Value turns) {
        const Value pairs = complex_of(method(x, "reshape", {2, 6, 3, 4, 2}));
        return method(pairs_of(pairs * method(turns, "view", {1, 6, 1, 4})),
                      "flatten", {3});
      },
      {random_tensor({2, 6, 3, 8}), numbers({6, 4})});
}

TEST(Complex, InputsAndOutputs) {
  expect_native([](Value x, Value y) { return x * y + x; },
                {numbers({3, 4}), numbers({3, 4}, 2)});
  expect_native(
      [](Value x) {
        return Value::tuple({function("torch.conj", {x}),
                             function("torch.abs", {x}),
                             function("torch.angle", {x}), -x, x / 2});
      },
      {numbers({3, 4})});
  // In another order of memory.
  expect_native([](Value x) { return method(x, "transpose", {0, 1}) * 2; },
                {numbers({3, 4})});
  expect_native(
      [](Value x, Value y) { return method(x, "transpose", {0, 1}) * y; },
      {numbers({3, 4}), numbers({4, 3}, 2)});
}

TEST(Complex, Transforms) {
  expect_native(
      [](Value x) {
        const Value spectrum = function("torch.fft.rfft2", {x});
        return function("torch.fft.irfft2", {spectrum * 2});
      },
      {random_tensor({2, 6, 8})});
  expect_native([](Value x) { return function("torch.fft.fft", {x}); },
                {numbers({3, 5})});
  expect_native([](Value x) { return function("torch.fft.ifftn", {x}); },
                {random_tensor({3, 5})});
  expect_native(
      [](Value x) {
        const Value spectra = function(
            "torch.functional.stft", {x, 16},
            {{"return_complex", true}, {"window", Tensor::full({16}, 0.5)}});
        return Value::tuple({function("torch.abs", {spectra}),
                             function("torch.istft", {spectra, 16},
                                      {{"window", Tensor::full({16}, 0.5)}})});
      },
      {random_tensor({2, 50})});
}

// As torch's views are, of the caller's tensor.
TEST(Complex, ViewsOfInputs) {
  const auto gm = fx::symbolic_trace(
      [](Value x) {
        return Value::tuple({pairs_of(x), function("torch.imag", {x})});
      },
      {"x"}, "f");
  compile(*gm, testing::options_for(host_cpu_level()));
  const Tensor x = numbers({3, 4}).as_strided({2, 4}, {4, 1}, 4);
  const Value got = gm->forward(ValueList{x});
  for (const Value& leaf : got.as_sequence())
    EXPECT_EQ(leaf.as_tensor().storage(), x.storage());
  EXPECT_EQ(distance(got.at(0).as_tensor(), pairs_of(x).as_tensor()), 0);
  EXPECT_EQ(got.at(1).as_tensor().at({1, 2}),
            pairs_of(x).as_tensor().at({1, 2, 1}));
  const auto back = fx::symbolic_trace(
      [](Value pairs) { return complex_of(pairs); }, {"x"}, "f");
  compile(*back, testing::options_for(host_cpu_level()));
  const Tensor pairs = random_tensor({3, 2});
  EXPECT_EQ(back->forward(ValueList{pairs}).as_tensor().storage(),
            pairs.storage());
  const Tensor odd = random_tensor({8}).as_strided({3, 2}, {2, 1}, 1);
  EXPECT_THROW(back->forward(ValueList{odd}), RuntimeError);
}

// Parts of what is written stay with the interpreter.
TEST(Complex, WritesThroughParts) {
  const auto gm = fx::symbolic_trace(
      [](Value x) {
        const Value y = x * 2;
        method(pairs_of(y), "add_", {1});
        return function("torch.abs", {y});
      },
      {"x"}, "f");
  compile(*gm, testing::options_for(host_cpu_level()));
  const Tensor x = numbers({3, 4});
  EXPECT_LT(distance(gm->forward(ValueList{x}).as_tensor(),
                     gm->interpret(ValueList{x}).as_tensor()),
            1e-6);
}

TEST(Complex, OtherCallsAreRefusedWithTheirLine) {
  const int here = __LINE__ + 2;
  const auto gm = fx::symbolic_trace(
      [](Value x) { return function("torch.cummax", {x, 0}); }, {"x"}, "f");
  compile(*gm, testing::options_for(host_cpu_level()));
  try {
    gm->forward(ValueList{numbers({2})});
    ADD_FAILURE() << "no error";
  } catch (const NotImplementedError& error) {
    EXPECT_THAT(error.what(), HasSubstr("cummax"));
    EXPECT_THAT(error.what(), HasSubstr("complex64"));
    EXPECT_THAT(error.what(),
                HasSubstr("complex_test.cpp:" + std::to_string(here)));
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
