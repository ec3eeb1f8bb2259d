// Numbers of uint64 from 2^63 on, interpreted and compiled, against C++'s own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "fxjit/compile.h"
#include "fxjit/error.h"
#include "fxjit/onnx.h"
#include "tests/onnx/model_writer.h"

namespace fxjit::testing_onnx {
namespace TEST_FILE {

constexpr int64_t kUint64 = 13, kInt64 = 7, kBool = 9;
constexpr int64_t kFloat = 1, kDouble = 11;
constexpr uint64_t kHalf = uint64_t{1} << 63, kLargest = ~uint64_t{0};

const std::vector<uint64_t> kNumbers = {
    0,
    1,
    5,
    63,
    (uint64_t{1} << 53) + 1,
    kHalf - 1,
    kHalf,
    kHalf + 1,
    0xC000000000000001,
    0xFFFFFFFFFFFFFBFF,
    kLargest,
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

Tensor flags_of(const std::vector<uint64_t>& numbers,
                const std::function<bool(uint64_t)>& exact) {
  const Tensor flags =
      Tensor::empty({static_cast<int64_t>(numbers.size())}, DType::boolean);
  for (size_t i = 0; i < numbers.size(); ++i)
    flags.data_as<bool>()[i] = exact(numbers[i]);
  return flags;
}

std::vector<uint64_t> each(const std::function<uint64_t(uint64_t)>& exact) {
  std::vector<uint64_t> results;
  for (const uint64_t x : kNumbers) results.push_back(exact(x));
  return results;
}

// The last node gives "y".
Message model_with(const std::vector<Message>& nodes, int64_t result,
                   const std::vector<std::string>& inputs,
                   const std::vector<Message>& initializers = {},
                   int64_t input_type = kUint64) {
  GraphParts parts{nodes, {}, {value_info("y", result, {-1})}, initializers};
  for (const std::string& input : inputs)
    parts.inputs.push_back(value_info(input, input_type, {-1}));
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
      model_with({node(op, {"a", "b"}, {"y"}, attributes)}, kUint64,
                 {"a", "b"}),
      {tensor_of(pairs.a), tensor_of(pairs.b)}, tensor_of(expected));
}

TEST(Uint64, QuotientsRestsAndShifts) {
  const Pairs divisors([](uint64_t y) { return y != 0; });
  expect_pairs("Div", divisors, std::divides<uint64_t>());
  expect_pairs("Mod", divisors, std::modulus<uint64_t>());
  expect_pairs("BitShift", Pairs(),
               [](uint64_t x, uint64_t y) { return y < 64 ? x >> y : 0; },
               {text_attribute("direction", "RIGHT")});
  expect_pairs("BitShift", Pairs(),
               [](uint64_t x, uint64_t y) { return y < 64 ? x << y : 0; },
               {text_attribute("direction", "LEFT")});
}

void expect_each(const std::string& op, const Tensor& expected) {
  SCOPED_TRACE(op);
  expect_results(model_with({node(op, {"a"}, {"y"})}, kUint64, {"a"}),
                 {tensor_of(kNumbers)}, expected);
}

TEST(Uint64, NoNumberIsNegative) {
  expect_each("Abs", tensor_of(kNumbers));
  expect_each("Sign", tensor_of(each([](uint64_t x) { return x != 0; })));
  expect_pairs("PRelu", Pairs(), [](uint64_t x, uint64_t) { return x; });
}

TEST(Uint64, Reduced) {
  const auto reduced = [](const std::string& op, uint64_t x, uint64_t y,
                          uint64_t expected) {
    SCOPED_TRACE(op);
    expect_results(model_with({node(op, {"a"}, {"y"})}, kUint64, {"a"}),
                   {tensor_of({x, y})}, tensor_of({expected}));
  };
  reduced("ReduceL1", kHalf, 5, kHalf + 5);
  reduced("ReduceMean", kHalf, kHalf + 4096, kHalf + 2048);
  // The squares add up to 2^63, whose root is 3037000499.98.
  reduced("ReduceL2", uint64_t{1} << 31, uint64_t{1} << 31, 3037000499);
}

TEST(Uint64, Chosen) {
  expect_pairs("Max", Pairs(),
               [](uint64_t x, uint64_t y) { return std::max(x, y); });
  expect_pairs("Min", Pairs(),
               [](uint64_t x, uint64_t y) { return std::min(x, y); });
  expect_each("ReduceMax", tensor_of({kLargest}));
  expect_each("ReduceMin", tensor_of({0}));
}

TEST(Uint64, EqualNumbersOnce) {
  expect_results(model_with({node("Unique", {"a"}, {"y"})}, kUint64, {"a"}),
                 {tensor_of({kHalf, 5, kLargest, 5, kHalf, kLargest})},
                 tensor_of({5, kHalf, kLargest}));
}

std::string bytes_of(const std::vector<uint64_t>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()),
          numbers.size() * sizeof(uint64_t)};
}

TEST(Uint64, Scattered) {
  const std::vector<uint64_t> data = {0, kHalf, 5, kLargest};
  const std::vector<uint64_t> updates = {kHalf, 7, kLargest, 3};
  const auto expect_scattered = [&](const std::string& op,
                                    const std::vector<int64_t>& dims,
                                    const std::string& reduction,
                                    const std::vector<uint64_t>& expected) {
    SCOPED_TRACE(op + " " + reduction);
    expect_results(
        model_with({node(op, {"a", "at", "b"}, {"y"},
                         {text_attribute("reduction", reduction)})},
                   kUint64, {"a", "b"},
                   {tensor("at", kInt64, dims, bytes_of({0, 1, 2, 3}))}),
        {tensor_of(data), tensor_of(updates)}, tensor_of(expected));
  };
  for (const std::string op : {"ScatterElements", "ScatterND"}) {
    const std::vector<int64_t> dims =
        op == "ScatterND" ? std::vector<int64_t>{4, 1}
                          : std::vector<int64_t>{4};
    expect_scattered(op, dims, "max", {kHalf, kHalf, kLargest, kLargest});
    expect_scattered(op, dims, "min", {0, 7, 5, 3});
    expect_scattered(op, dims, "add", {kHalf, kHalf + 7, 4, 2});
    expect_scattered(op, dims, "none", updates);
  }
}

// As many of one number as there are in "a", compared with them.
Message with_filled(const std::string& op,
                    const std::vector<std::string>& inputs, int64_t result,
                    uint64_t number) {
  return model_with(
      {node("Shape", {"a"}, {"n"}),
       node("ConstantOfShape", {"n"}, {"filled"},
            {tensor_attribute("value",
                              tensor("", kUint64, {1}, bytes_of({number})))}),
       node(op, inputs, {"y"})},
      result, {"a"});
}

TEST(Uint64, ComparedWithNumbersOfAFilledTensor) {
  for (const uint64_t number : {uint64_t{3}, kHalf + 1}) {
    SCOPED_TRACE(number);
    const Tensor larger =
        tensor_of(each([&](uint64_t x) { return std::max(x, number); }));
    for (const auto& inputs : {std::vector<std::string>{"a", "filled"},
                               std::vector<std::string>{"filled", "a"}})
      expect_results(with_filled("Max", inputs, kUint64, number),
                     {tensor_of(kNumbers)}, larger);
    expect_results(with_filled("Less", {"a", "filled"}, kBool, number),
                   {tensor_of(kNumbers)},
                   flags_of(kNumbers, [&](uint64_t x) { return x < number; }));
  }
}

// A loop that collects "a", unrolled or not; the largest number of its stack.
Message largest_of_stack(const std::string& count,
                         const std::vector<Message>& initializers) {
  const Message body =
      graph({{node("Identity", {"a"}, {"row"})},
             {value_info("i", kInt64, {}), value_info("go", kBool, {})},
             {value_info("go", kBool, {}), value_info("row", kUint64, {-1})},
             {}});
  GraphParts parts{{node("Size", {"b"}, {"as_many"}),
                    node("Loop", {count, ""}, {"rows"},
                         {graph_attribute("body", body)}),
                    node("ReduceMax", {"rows"}, {"y"})},
                   {value_info("a", kUint64, {-1}),
                    value_info("b", kUint64, {-1})},
                   {value_info("y", kUint64, {-1, -1})},
                   initializers};
  return model(graph(parts), 18);
}

TEST(Uint64, TheStackOfALoopIsCompared) {
  const Tensor expected =
      Tensor::from(std::vector<int64_t>{INT64_MIN}, {1, 1});  // 2^63.
  const ValueList inputs = {tensor_of({5, kHalf}), tensor_of({0, 0, 0})};
  expect_results(largest_of_stack("two", {int_tensor("two", {2})}), inputs,
                 expected);
  expect_results(largest_of_stack("as_many", {}), inputs, expected);
}

TEST(Uint64, Compared) {
  const Pairs pairs;
  const auto expect_flags = [&](const std::string& op, auto exact) {
    SCOPED_TRACE(op);
    const Tensor expected =
        Tensor::empty({static_cast<int64_t>(pairs.a.size())}, DType::boolean);
    for (size_t i = 0; i < pairs.a.size(); ++i)
      expected.data_as<bool>()[i] = exact(pairs.a[i], pairs.b[i]);
    expect_results(model_with({node(op, {"a", "b"}, {"y"})}, kBool, {"a", "b"}),
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
      model_with({node("Cast", {"a"}, {"y"}, {int_attribute("to", type)})},
                 type, {"a"}),
      {tensor_of(kNumbers)}, expected);
}

TEST(Uint64, AsRealNumbers) {
  expect_reals<float>(kFloat, DType::f32);
  expect_reals<double>(kDouble, DType::f64);
}

TEST(Uint64, FromRealNumbers) {
  const std::vector<double> reals = {0, 1.5, 0x1p53, 0x1p63, 0x1.8p63,
                                     0x1.fffffffffffffp63};
  const Tensor x =
      Tensor::empty({static_cast<int64_t>(reals.size())}, DType::f64);
  std::copy(reals.begin(), reals.end(), x.data_as<double>());
  expect_results(
      model_with({node("Cast", {"a"}, {"y"}, {int_attribute("to", kUint64)})},
                 kUint64, {"a"}, {}, kDouble),
      {x},
      tensor_of({0, 1, uint64_t{1} << 53, kHalf, kHalf + (kHalf >> 1),
                 0xFFFFFFFFFFFFF800}));
}

TEST(Uint64, WhatIsNotSupportedIsRefused) {
  const std::string path = write_model(
      model_with({node("Resize", {"a", "", "twice"}, {"y"},
                       {text_attribute("mode", "linear")})},
                 kUint64, {"a"}, {float_tensor("twice", {1}, {2})})
          .bytes());
  try {
    onnx::load(path);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("sums of uint64"));
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit::testing_onnx
