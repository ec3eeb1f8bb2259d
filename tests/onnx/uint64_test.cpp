// Numbers of uint64 from 2^63 on, interpreted and compiled, against C++'s own.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "fxjit/compile.h"
#include "fxjit/onnx.h"
#include "tests/onnx/model_writer.h"

namespace fxjit::testing_onnx {
namespace {

constexpr int64_t kUint64 = 13, kBool = 9, kFloat = 1, kDouble = 11;

const std::vector<uint64_t> kNumbers = {
    0,
    1,
    5,
    63,
    (uint64_t{1} << 53) + 1,
    (uint64_t{1} << 63) - 1,
    uint64_t{1} << 63,
    (uint64_t{1} << 63) + 1,
    0xC000000000000001,
    0xFFFFFFFFFFFFFBFF,
    ~uint64_t{0},
};

// All pairs: each number beside each.
struct Pairs {
  std::vector<uint64_t> a, b;

  explicit Pairs(const std::function<bool(uint64_t)>& allowed = nullptr) {
    for (const uint64_t x : kNumbers)
      for (const uint64_t y : kNumbers)
        if (!allowed || allowed(y)) {
          a.push_back(x);
          b.push_back(y);
        }
  }
};

Tensor tensor_of(const std::vector<uint64_t>& numbers) {
  std::vector<int64_t> bits(numbers.begin(), numbers.end());
  return Tensor::from(bits, {static_cast<int64_t>(bits.size())});
}

Message model_with(const Message& call, int64_t result,
                   const std::vector<std::string>& inputs) {
  GraphParts parts{{call}, {}, {value_info("y", result, {-1})}, {}};
  for (const std::string& input : inputs)
    parts.inputs.push_back(value_info(input, kUint64, {-1}));
  return model(graph(parts), 18);
}

void expect_results(const Message& message, const ValueList& inputs,
                    const Tensor& expected) {
  const std::string path = write_model(message.bytes());
  for (const bool compiled : {false, true}) {
    const onnx::Program program = onnx::load(path);
    if (compiled) program.module->compile();
    const Tensor got = program.run(inputs).as_tensor();
    EXPECT_EQ(got.dtype(), expected.dtype());
    ASSERT_EQ(got.sizes(), expected.sizes());
    const Tensor ours = got.contiguous(), theirs = expected.contiguous();
    EXPECT_EQ(std::memcmp(ours.data(), theirs.data(),
                          static_cast<size_t>(ours.numel()) * ours.item_size()),
              0)
        << (compiled ? "compiled" : "interpreted");
  }
}

void expect_pairs(const std::string& op, const Pairs& pairs,
                  const std::function<uint64_t(uint64_t, uint64_t)>& exact,
                  const std::vector<Message>& attributes = {}) {
  SCOPED_TRACE(op);
  std::vector<uint64_t> expected;
  for (size_t i = 0; i < pairs.a.size(); ++i)
    expected.push_back(exact(pairs.a[i], pairs.b[i]));
  expect_results(
      model_with(node(op, {"a", "b"}, {"y"}, attributes), kUint64, {"a", "b"}),
      {tensor_of(pairs.a), tensor_of(pairs.b)}, tensor_of(expected));
}

TEST(Uint64, QuotientsRestsAndShifts) {
  const Pairs divisors([](uint64_t y) { return y != 0; });
  expect_pairs("Div", divisors, std::divides<uint64_t>());
  expect_pairs("Mod", divisors, std::modulus<uint64_t>());
  const Pairs places([](uint64_t y) { return y < 64; });
  expect_pairs("BitShift", places,
               [](uint64_t x, uint64_t y) { return x >> y; },
               {text_attribute("direction", "RIGHT")});
}

TEST(Uint64, Chosen) {
  expect_pairs("Max", Pairs(),
               [](uint64_t x, uint64_t y) { return std::max(x, y); });
  expect_pairs("Min", Pairs(),
               [](uint64_t x, uint64_t y) { return std::min(x, y); });
  expect_results(model_with(node("ReduceMax", {"a"}, {"y"}), kUint64, {"a"}),
                 {tensor_of(kNumbers)}, tensor_of({~uint64_t{0}}));
  expect_results(model_with(node("ReduceMin", {"a"}, {"y"}), kUint64, {"a"}),
                 {tensor_of(kNumbers)}, tensor_of({0}));
}

TEST(Uint64, Compared) {
  const Pairs pairs;
  const auto expect_flags = [&](const std::string& op, auto exact) {
    SCOPED_TRACE(op);
    const Tensor expected =
        Tensor::empty({static_cast<int64_t>(pairs.a.size())}, DType::boolean);
    for (size_t i = 0; i < pairs.a.size(); ++i)
      expected.data_as<bool>()[i] = exact(pairs.a[i], pairs.b[i]);
    expect_results(model_with(node(op, {"a", "b"}, {"y"}), kBool, {"a", "b"}),
                   {tensor_of(pairs.a), tensor_of(pairs.b)}, expected);
  };
  expect_flags("Less", std::less<uint64_t>());
  expect_flags("GreaterOrEqual", std::greater_equal<uint64_t>());
}

template <typename T>
void expect_reals(int64_t type, DType dtype) {
  const Tensor expected =
      Tensor::empty({static_cast<int64_t>(kNumbers.size())}, dtype);
  for (size_t i = 0; i < kNumbers.size(); ++i)
    expected.data_as<T>()[i] = static_cast<T>(kNumbers[i]);
  expect_results(
      model_with(node("Cast", {"a"}, {"y"}, {int_attribute("to", type)}), type,
                 {"a"}),
      {tensor_of(kNumbers)}, expected);
}

TEST(Uint64, AsRealNumbers) {
  expect_reals<float>(kFloat, DType::f32);
  expect_reals<double>(kDouble, DType::f64);
}

}  // namespace
}  // namespace fxjit::testing_onnx
