// Each model of the table, interpreted and compiled.
#include "tests/onnx/regressions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <ostream>

#include "fxjit/error.h"

namespace fxjit::testing_onnx {

Message one_input_model(const std::vector<int64_t>& sizes,
                        std::vector<Message> nodes,
                        std::vector<Message> initializers, int64_t opset) {
  return model(graph({std::move(nodes),
                      {value_info("x", kFloat, sizes)},
                      {value_info("y", kFloat, {})},
                      std::move(initializers)}),
               opset);
}

Tensor counted(const Dims& sizes) {
  const Tensor tensor = Tensor::empty(sizes);
  for (int64_t i = 0; i < tensor.numel(); ++i)
    tensor.data_as<float>()[i] = static_cast<float>(i);
  return tensor;
}

void PrintTo(const Regression& one, std::ostream* out) { *out << one.name; }

namespace TEST_FILE {

using ::testing::HasSubstr;

// NaN is NaN, and 0 is not -0.
MATCHER(IsSameNumber, "") {
  const float got = std::get<0>(arg), expected = std::get<1>(arg);
  if (std::isnan(expected)) return std::isnan(got);
  if (std::signbit(got) != std::signbit(expected)) return false;
  return got == expected ||
         std::fabs(got - expected) <= 1e-6f * std::fabs(expected);
}

void expect_call(const onnx::Program& program, const RegressionCall& call) {
  if (!call.error.empty()) {
    try {
      (void)program.run(call.inputs);
      ADD_FAILURE() << "expected an error: " << call.error;
    } catch (const Error& error) {
      EXPECT_THAT(error.message(), HasSubstr(call.error));
    }
    return;
  }
  const Value result = program.run(call.inputs);
  const Value first = result.is_sequence() ? result.at(0) : result;
  EXPECT_EQ(first.as_tensor().sizes(), call.sizes);
  EXPECT_THAT(floats(first),
              ::testing::Pointwise(IsSameNumber(), call.expected));
}

class OnnxRegressions : public ::testing::TestWithParam<Regression> {};

TEST_P(OnnxRegressions, GiveWhatOnnxSays) {
  const Regression& one = GetParam();
  const std::string path = write_model(one.model.bytes());
  if (!one.refusal.empty()) {
    try {
      (void)onnx::load(path);
      FAIL() << "expected a refusal: " << one.refusal;
    } catch (const Error& error) {
      EXPECT_THAT(error.message(), HasSubstr(one.refusal));
    }
    return;
  }
  for (const bool compiled : {false, true}) {
    SCOPED_TRACE(compiled ? "compiled" : "interpreted");
    const onnx::Program program = onnx::load(path);
    if (compiled) program.module->compile();
    for (const RegressionCall& call : one.calls) expect_call(program, call);
  }
}

std::string name_of(const ::testing::TestParamInfo<Regression>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Shapes, OnnxRegressions,
                         ::testing::ValuesIn(shape_regressions()), name_of);
INSTANTIATE_TEST_SUITE_P(Numbers, OnnxRegressions,
                         ::testing::ValuesIn(number_regressions()), name_of);

}  // namespace TEST_FILE
}  // namespace fxjit::testing_onnx
