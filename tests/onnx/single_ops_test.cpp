// Each call of the tables, interpreted and compiled.
#include "tests/onnx/single_ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <ostream>

namespace fxjit::testing_onnx {

Value wave(const Dims& sizes, int64_t seed) {
  const Tensor tensor = Tensor::empty(sizes);
  for (int64_t i = 0; i < tensor.numel(); ++i)
    tensor.data_as<float>()[i] =
        static_cast<float>((i * 7 + seed * 3) % 11 - 5) / 4;
  return tensor;
}

Value numbers(const Dims& sizes, const std::vector<float>& values,
              DType dtype) {
  return Tensor::from(values, sizes).to(dtype);
}

void PrintTo(const SingleOp& one, std::ostream* out) { *out << one.name; }

namespace TEST_FILE {

int64_t element_type(DType dtype) {
  if (dtype == DType::f32) return kFloat;
  if (dtype == DType::u8 || dtype == DType::i8)
    return dtype == DType::u8 ? 2 : 3;
  return dtype == DType::i32 ? 6 : kInt64;
}

// The model that calls the op alone; dims of its inputs have no size where
// `open`.
Message model_of(const SingleOp& one, bool open) {
  GraphParts parts;
  std::vector<std::string> inputs, outputs;
  for (size_t i = 0; i < one.inputs.size(); ++i) {
    inputs.emplace_back();
    if (one.inputs[i].is_none()) continue;
    inputs.back() = "x" + std::to_string(i);
    const Tensor& tensor = one.inputs[i].as_tensor();
    std::vector<int64_t> sizes(tensor.sizes().begin(), tensor.sizes().end());
    if (open && !sizes.empty()) sizes[0] = -1;
    parts.inputs.push_back(
        value_info(inputs.back(), element_type(tensor.dtype()), sizes));
  }
  for (size_t i = 0; i <= one.output; ++i)
    outputs.push_back(i == one.output ? "y" : i == 0 ? "first" : "");
  parts.nodes = {node(one.op, inputs, outputs, one.attributes, one.domain)};
  parts.outputs = {value_info("y", kFloat, {})};
  Message made = model(graph(parts), one.opset);
  for (const char* domain : {kMicrosoft, kMl})
    made.add(8, Message().text(1, domain).number(2, 4));
  return made;
}

MATCHER(IsNear, "") {
  const float got = std::get<0>(arg), expected = std::get<1>(arg);
  if (std::isnan(expected)) return std::isnan(got);
  return std::fabs(got - expected) <=
         2e-5f * std::max(1.f, std::fabs(expected));
}

class OnnxSingleOps : public ::testing::TestWithParam<SingleOp> {};

TEST_P(OnnxSingleOps, GiveWhatOnnxRuntimeGives) {
  const SingleOp& one = GetParam();
  const std::string path = write_model(model_of(one, false).bytes());
  ValueList inputs;
  for (const Value& input : one.inputs)
    if (!input.is_none()) inputs.push_back(input);
  for (const bool compiled : {false, true}) {
    const onnx::Program program = onnx::load(path);
    if (compiled) program.module->compile();
    const Value result = program.run(inputs);
    EXPECT_EQ(result.as_tensor().sizes(), one.sizes);
    EXPECT_THAT(floats(result), ::testing::Pointwise(IsNear(), one.expected))
        << (compiled ? "compiled" : "interpreted");
  }
}

// Weights whose sizes vary are refused, by an error of the caller's.
TEST_P(OnnxSingleOps, TakeAnyBatchOrSayWhyNot) {
  const SingleOp& one = GetParam();
  const std::string path = write_model(model_of(one, true).bytes());
  ValueList inputs;
  for (const Value& input : one.inputs)
    if (!input.is_none()) inputs.push_back(input);
  try {
    const Value result = onnx::load(path).run(inputs);
    EXPECT_EQ(result.as_tensor().sizes(), one.sizes);
    EXPECT_THAT(floats(result), ::testing::Pointwise(IsNear(), one.expected));
  } catch (const UserError& error) {
    EXPECT_THAT(error.message(), ::testing::HasSubstr("[onnx]"));
    EXPECT_NE(one.op, "MultiHeadAttention") << error.what();
  }
}

std::string name_of(const ::testing::TestParamInfo<SingleOp>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Fused, OnnxSingleOps, ::testing::ValuesIn(fused_ops()),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Quantized, OnnxSingleOps,
                         ::testing::ValuesIn(quantized_ops()), name_of);
INSTANTIATE_TEST_SUITE_P(Planes, OnnxSingleOps, ::testing::ValuesIn(plane_ops()),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Features, OnnxSingleOps,
                         ::testing::ValuesIn(feature_ops()), name_of);
INSTANTIATE_TEST_SUITE_P(Estimators, OnnxSingleOps,
                         ::testing::ValuesIn(estimator_ops()), name_of);
INSTANTIATE_TEST_SUITE_P(Vectors, OnnxSingleOps,
                         ::testing::ValuesIn(vector_ops()), name_of);
INSTANTIATE_TEST_SUITE_P(Suppression, OnnxSingleOps,
                         ::testing::ValuesIn(suppression_ops()), name_of);

}  // namespace TEST_FILE
}  // namespace fxjit::testing_onnx
