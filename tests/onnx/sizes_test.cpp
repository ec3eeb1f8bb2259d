// Dims without a number: their names, the sizes that a model is read with, and
// windows over planes of such sizes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fxjit/compile.h"
#include "fxjit/error.h"
#include "fxjit/onnx.h"
#include "fxjit/report.h"
#include "tests/onnx/model_writer.h"

namespace fxjit::testing_onnx {
namespace TEST_FILE {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kFloat = 1;

// ValueInfoProto of a tensor whose dims have these names, or sizes.
Message named_info(const std::string& name,
                   const std::vector<std::string>& dims) {
  Message shape;
  for (const std::string& dim : dims)
    shape.add(1, !dim.empty() && std::isdigit(dim[0])
                     ? Message().number(1, std::stoul(dim))
                     : Message().text(2, dim));
  Message type;
  type.number(1, kFloat).add(2, shape);
  return Message().text(1, name).add(2, Message().add(1, type));
}

onnx::Program squares(const std::vector<std::string>& dims) {
  return onnx::load(write_model(
      model(graph({{node("Mul", {"x", "x"}, {"y"})},
                   {named_info("x", dims)},
                   {value_info("y", kFloat, {-1, -1})},
                   {}}))
          .bytes()));
}

TEST(OnnxSizes, DimsOfOneNameAreEqual) {
  const onnx::Program program = squares({"n", "n"});
  EXPECT_EQ(program.run({Tensor::zeros({3, 3})}).as_tensor().sizes(),
            (Dims{3, 3}));
  EXPECT_THROW(program.run({Tensor::zeros({3, 4})}), Error);
}

TEST(OnnxSizes, WhatNamesNothingMayDiffer) {
  for (const char* name : {"?", "None", "-1", ""})
    EXPECT_EQ(squares({name, name})
                  .run({Tensor::zeros({3, 4})})
                  .as_tensor()
                  .sizes(),
              (Dims{3, 4}))
        << name;
}

// The batch of x may be any by its name, and is 1 by the weight, which is as
// large as the flattened planes of one image.
TEST(OnnxSizes, AModelMayTakeABatchOf1Alone) {
  const std::string path = write_model(
      model(graph({{node("Reshape", {"x", "flat"}, {"r"}),
                    node("Mul", {"r", "w"}, {"m"}),
                    node("Softmax", {"m"}, {"s"}, {int_attribute("axis", 0)}),
                    node("Reshape", {"s", "rows"}, {"y"})},
                   {value_info("x", kFloat, {-1, 4})},
                   {value_info("y", kFloat, {-1, 2})},
                   {int_tensor("flat", {-1}), int_tensor("rows", {-1, 2}),
                    float_tensor("w", {4}, {1, 1, 1, 1})}}))
          .bytes());
  const onnx::Program program = onnx::load(path);
  const Tensor y = program.run({Tensor::zeros({1, 4})}).as_tensor();
  EXPECT_EQ(y.sizes(), (Dims{2, 2}));
  EXPECT_EQ(y.contiguous().data_as<float>()[0], 0.25f);
}

// Pooling that ends outside of the planes, with and without a known size.
struct Pooled {
  const char* op;
  int64_t size;  // -1: it varies.
  int64_t kernel, stride;
};

class OnnxSamePooling : public ::testing::TestWithParam<Pooled> {};

TEST_P(OnnxSamePooling, IsOneStep) {
  const auto& [op, size, kernel, stride] = GetParam();
  const std::string path = write_model(
      model(graph({{node(op, {"x"}, {"y"},
                         {ints_attribute("kernel_shape", {kernel}),
                          ints_attribute("strides", {stride}),
                          text_attribute("auto_pad", "SAME_UPPER")})},
                   {value_info("x", kFloat, {1, 1, size})},
                   {value_info("y", kFloat, {1, 1, -1})},
                   {}}))
          .bytes());
  const onnx::Program interpreted = onnx::load(path), compiled = onnx::load(path);
  EXPECT_THAT(interpreted.module->code(), Not(HasSubstr("pad(")));
  compiled.module->compile();
  std::vector<float> numbers;
  for (int64_t n = size < 0 ? 5 : size, i = 0; i < n; ++i)
    numbers.push_back(static_cast<float>(-i));
  const Tensor x = Tensor::from(
      numbers, {1, 1, static_cast<int64_t>(numbers.size())});
  std::vector<float> wanted;
  for (size_t i = 0; i < numbers.size(); i += static_cast<size_t>(stride)) {
    const size_t end =
        std::min(numbers.size(), i + static_cast<size_t>(kernel));
    const float last = numbers[end - 1];
    wanted.push_back(std::string_view(op) == "MaxPool"
                         ? numbers[i]
                         : (numbers[i] + last) / 2);
  }
  for (const onnx::Program* program : {&interpreted, &compiled}) {
    const Tensor y = program->run({x}).as_tensor().contiguous();
    EXPECT_THAT(std::vector<float>(y.data_as<float>(),
                                   y.data_as<float>() + y.numel()),
                ::testing::Pointwise(testing::FloatEq(), wanted));
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, OnnxSamePooling,
                         ::testing::Values(Pooled{"MaxPool", -1, 2, 2},
                                         Pooled{"AveragePool", -1, 2, 2},
                                         Pooled{"MaxPool", 6, 3, 2},
                                         Pooled{"AveragePool", 6, 3, 2},
                                         Pooled{"MaxPool", 7, 2, 2}));

// One of a batch of another size than the state's is refused when it is called.
TEST(OnnxSizes, AStateOfABatchOf1IsTaken) {
  const std::vector<float> ones(12, 1);
  const std::string path = write_model(
      model(graph({{node("GRU", {"x", "w", "r", "", "", "h"}, {"all", "y"},
                         {int_attribute("hidden_size", 2)}),
                    node("Reshape", {"y", "flat"}, {"z"})},
                   {named_info("x", {"length", "batch", "2"}),
                    value_info("h", kFloat, {1, 1, 2})},
                   {value_info("z", kFloat, {-1})},
                   {float_tensor("w", {1, 6, 2}, ones),
                    float_tensor("r", {1, 6, 2}, ones),
                    int_tensor("flat", {-1})}}))
          .bytes());
  const onnx::Program program = onnx::load(path);
  const Tensor h = Tensor::zeros({1, 1, 2});
  EXPECT_EQ(program.run({Tensor::zeros({3, 1, 2}), h}).as_tensor().sizes(),
            (Dims{2}));
  EXPECT_THROW(program.run({Tensor::zeros({3, 4, 2}), h}), Error);
}

}  // namespace TEST_FILE
}  // namespace fxjit::testing_onnx
