// NaN, infinities and signed zeros; places that are whole numbers; padding on
// one side and less on the other.
#include <limits>

#include "tests/onnx/regressions.h"

namespace fxjit::testing_onnx {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

Regression row_by(const char* name, const Message& node,
                  std::vector<Message> initializers, const Tensor& x,
                  const std::vector<float>& expected, int64_t opset = 19) {
  const std::vector<int64_t> sizes(x.sizes().begin(), x.sizes().end());
  const Dims count = {static_cast<int64_t>(expected.size())};
  return {name,
          one_input_model(sizes, {node}, std::move(initializers), opset),
          {{{x}, expected, count}}};
}

std::vector<Regression> special_numbers() {
  const Tensor x = list({kNaN, -kInfinity, -2, -0.0f, 0, 4, kInfinity});
  const auto power = [&](const char* name, float exponent,
                         const std::vector<float>& expected) {
    return row_by(name, node("Pow", {"x", "e"}, {"y"}),
                  {float_tensor("e", {}, {exponent})}, x, expected);
  };
  return {
      row_by("SignOfSpecialNumbers", node("Sign", {"x"}, {"y"}), {}, x,
             {kNaN, -1, -1, 0, 0, 1, 1}),
      row_by(
          "ThresholdedReluOfSpecialNumbers",
          node("ThresholdedRelu", {"x"}, {"y"}, {real_attribute("alpha", -1)}),
          {}, x, {0, 0, 0, -0.0f, 0, 4, kInfinity}),
      power("PowerOfMinusAHalf", -0.5f,
            {kNaN, 0, kNaN, kInfinity, kInfinity, 0.5f, 0}),
      power("PowerOfAHalf", 0.5f, {kNaN, kInfinity, kNaN, 0, 0, 2, kInfinity}),
      power("PowerOfMinusOne", -1,
            {kNaN, -0.0f, -0.5f, -kInfinity, kInfinity, 0.25f, 0}),
  };
}

// Images of 3 x 3 read at x of these numbers and y of 0, the middle row.
Regression sampled(const char* name, const char* mode, const char* padding,
                   const std::vector<float>& expected) {
  const std::vector<float> at = {kNaN, 0, -kInfinity, 0, -1, 0, 0, 0, 1e30f, 0};
  return {name,
          one_input_model({1, 1, 3, 3},
                          {node("GridSample", {"x", "grid"}, {"y"},
                                {text_attribute("mode", mode),
                                 text_attribute("padding_mode", padding),
                                 int_attribute("align_corners", 1)})},
                          {float_tensor("grid", {1, 1, 5, 2}, at)}, 16),
          {{{counted({1, 1, 3, 3})}, expected, {1, 1, 1, 5}}}};
}

std::vector<Regression> samples() {
  return {
      sampled("GridSampleOfZeros", "bilinear", "zeros", {kNaN, kNaN, 3, 4, 0}),
      sampled("GridSampleOfCubicZeros", "bicubic", "zeros",
              {kNaN, kNaN, 3, 4, 0}),
      sampled("GridSampleOfNearestZeros", "nearest", "zeros", {0, 0, 3, 4, 0}),
      sampled("GridSampleOfBorders", "bilinear", "border", {3, 3, 3, 4, 5}),
      sampled("GridSampleOfNearestBorders", "nearest", "border",
              {3, 3, 3, 4, 5}),
  };
}

// Negative padding first, as ONNX Runtime does: what is left is repeated.
std::vector<Regression> paddings() {
  const auto padded = [](const char* name, const char* mode, int64_t begin,
                         int64_t end, const std::vector<float>& expected) {
    return row_by(
        name, node("Pad", {"x", "pads"}, {"y"}, {text_attribute("mode", mode)}),
        {int_tensor("pads", {begin, end})}, counted({5}), expected);
  };
  return {
      padded("WrapBehindWithLessInFront", "wrap", -1, 3, {1, 2, 3, 4, 1, 2, 3}),
      padded("WrapInFrontWithLessBehind", "wrap", 2, -2, {1, 2, 0, 1, 2}),
      padded("WrapOftenInFront", "wrap", 3, -3, {1, 0, 1, 0, 1}),
      padded("ReflectInFrontWithLessBehind", "reflect", 3, -3, {1, 0, 1, 0, 1}),
      padded("EdgeInFrontWithLessBehind", "edge", 2, -2, {0, 0, 0, 1, 2}),
  };
}

// The nearest of a row 0, 1, 2 and so on.
Regression nearest(const char* name, int64_t size, float scale,
                   const char* transform, const char* mode,
                   const std::vector<float>& expected) {
  return row_by(
      name,
      node("Resize", {"x", "", "scales"}, {"y"},
           {text_attribute("coordinate_transformation_mode", transform),
            text_attribute("nearest_mode", mode)}),
      {float_tensor("scales", {1}, {scale})}, counted({size}), expected);
}

std::vector<Regression> resizes() {
  return {
      nearest("ResizeSymmetricCeil", 3, 1.5f, "half_pixel_symmetric", "ceil",
              {0, 1, 2, 2}),
      nearest("ResizeSymmetricFloor", 3, 2.4f, "half_pixel_symmetric", "floor",
              {0, 0, 0, 1, 1, 1, 2}),
      // 3 / 0.6 is 5, of which the float 0.6 leaves a little less.
      nearest("ResizeAsymmetricFloor", 10, 0.6f, "asymmetric", "floor",
              {0, 1, 3, 5, 6, 8}),
      row_by(
          "ResizeToASize",
          node("Resize", {"x", "", "", "sizes"}, {"y"},
               {text_attribute("coordinate_transformation_mode", "asymmetric"),
                text_attribute("nearest_mode", "floor")}),
          {int_tensor("sizes", {49})}, counted({7}),
          [] {
            std::vector<float> expected;
            for (int i = 0; i < 49; ++i)
              expected.push_back(static_cast<float>(i / 7));
            return expected;
          }()),
  };
}

// Rows of a dim whose size only a call tells, as ONNX Runtime reduces them: of
// none the extremes are the type's limits. What a mean of none is the standard
// leaves open; here it is 0 / 0.
std::vector<Regression> reductions_of_none() {
  constexpr int64_t kUint8 = 2, kInt8 = 3, kFloat16 = 10, kUint32 = 12,
                    kUint64 = 13;
  const auto reduced = [](const char* op, int64_t type, float of_none,
                          float of_rows) {
    const std::vector<Message> nodes = {
        node("Cast", {"x"}, {"c"}, {int_attribute("to", type)}),
        node(op, {"c", "axes"}, {"r"}, {int_attribute("keepdims", 0)}),
        node("Cast", {"r"}, {"y"}, {int_attribute("to", kFloat)})};
    return Regression{
        std::string(op) + "OfNoneOfType" + std::to_string(type),
        one_input_model({-1, 2}, nodes, {int_tensor("axes", {0, 1})}, 20),
        {{{Tensor::zeros({0, 2})}, {of_none}, {}},
         {{counted({2, 2})}, {of_rows}, {}}}};
  };
  return {reduced("ReduceMax", kFloat, -kInfinity, 3),
          reduced("ReduceMin", kFloat, kInfinity, 0),
          reduced("ReduceMax", kFloat16, -kInfinity, 3),
          reduced("ReduceMax", kInt8, -128, 3),
          reduced("ReduceMin", kInt8, 127, 0),
          reduced("ReduceMax", kUint8, 0, 3),
          reduced("ReduceMin", kUint8, 255, 0),
          reduced("ReduceMin", kInt64, 9223372036854775807.f, 0),
          reduced("ReduceMax", kUint32, 0, 3),
          reduced("ReduceMin", kUint32, 4294967295.f, 0),
          reduced("ReduceMax", kUint64, 0, 3),
          reduced("ReduceMin", kUint64, 18446744073709551615.f, 0),
          reduced("ReduceMax", kBool, 0, 1),
          reduced("ReduceMin", kBool, 1, 0),
          reduced("ReduceLogSumExp", kFloat, -kInfinity, 3.44018969856f),
          reduced("ReduceProd", kFloat, 1, 0),
          reduced("ReduceMean", kFloat, kNaN, 1.5f)};
}

}  // namespace

std::vector<Regression> number_regressions() {
  std::vector<Regression> all;
  for (const auto& part : {special_numbers(), samples(), paddings(), resizes(),
                           reductions_of_none()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace fxjit::testing_onnx
