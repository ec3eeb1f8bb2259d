// DeformConv, interpreted and compiled, against its definition in double.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "fxjit/compile.h"
#include "fxjit/error.h"
#include "fxjit/onnx.h"
#include "tests/onnx/model_writer.h"

namespace fxjit::testing_onnx {
namespace TEST_FILE {

constexpr int64_t kFloat = 1;

// Numbers in the order of a tensor's, with at most four dims.
struct Array {
  std::vector<int64_t> sizes;
  std::vector<double> numbers;

  double at(int64_t a, int64_t b, int64_t c, int64_t d) const {
    return numbers[static_cast<size_t>(
        ((a * sizes[1] + b) * sizes[2] + c) * sizes[3] + d)];
  }
};

int64_t numel_of(const std::vector<int64_t>& sizes) {
  int64_t product = 1;
  for (const int64_t size : sizes) product *= size;
  return product;
}

Tensor tensor_of(const Array& array, DType dtype) {
  const Tensor wide = Tensor::empty(Dims(array.sizes), DType::f64);
  std::copy(array.numbers.begin(), array.numbers.end(),
            wide.data_as<double>());
  return wide.to(dtype);
}

// Numbers up to `most` that this type holds.
Array random_array(const std::vector<int64_t>& sizes, double most, DType dtype,
                   std::mt19937& source) {
  Array array{sizes, {}};
  std::uniform_real_distribution<double> number(-most, most);
  for (int64_t i = numel_of(sizes); i > 0; --i)
    array.numbers.push_back(number(source));
  const Tensor held = tensor_of(array, dtype).to(DType::f64).contiguous();
  array.numbers.assign(held.data_as<double>(),
                       held.data_as<double>() + held.numel());
  return array;
}

// Two groups of channels, which are bent alike within each; windows of three
// rows and two columns.
struct Case {
  static constexpr int64_t kBatch = 2, kChannels = 4, kHeight = 7, kWidth = 8;
  static constexpr int64_t kFeatures = 6, kGroups = 2, kBends = 2;
  static constexpr int64_t kRows = 3, kColumns = 2, kTaps = kRows * kColumns;
  static constexpr int64_t kStride = 2, kDilation = 2;
  static constexpr int64_t kTop = 1, kLeft = 2, kBottom = 1, kRight = 0;
  // Of the result: (7 + 1 + 1 - 5) / 2 + 1 and (8 + 2 + 0 - 3) / 2 + 1.
  static constexpr int64_t kDown = 3, kAcross = 4;

  DType dtype;
  bool has_mask, has_bias;
  Array x, weight, offset, bias, mask;

  Case(DType of_all, bool with_mask, bool with_bias)
      : dtype(of_all), has_mask(with_mask), has_bias(with_bias) {
    std::mt19937 source(7);
    const auto random = [&](const std::vector<int64_t>& sizes, double most) {
      return random_array(sizes, most, dtype, source);
    };
    x = random({kBatch, kChannels, kHeight, kWidth}, 1);
    weight = random({kFeatures, kChannels / kGroups, kRows, kColumns}, 1);
    offset = random({kBatch, kBends * kTaps * 2, kDown, kAcross}, 2.5);
    bias = random({kFeatures}, 1);
    mask = random({kBatch, kBends * kTaps, kDown, kAcross}, 1);
  }

  // Between the four elements around a place; those outside count as zero.
  double sample(int64_t n, int64_t channel, double y, double x_place) const {
    const double top = std::floor(y), left = std::floor(x_place);
    double sum = 0;
    for (const int64_t down : {0, 1})
      for (const int64_t across : {0, 1}) {
        const auto row = static_cast<int64_t>(top) + down;
        const auto column = static_cast<int64_t>(left) + across;
        if (row < 0 || row >= kHeight || column < 0 || column >= kWidth)
          continue;
        const double tall = down == 1 ? y - top : 1 - (y - top);
        const double wide =
            across == 1 ? x_place - left : 1 - (x_place - left);
        sum += tall * wide * x.at(n, channel, row, column);
      }
    return sum;
  }

  // The product of a window of one channel with its weights.
  double window(int64_t n, int64_t feature, int64_t channel, int64_t i,
                int64_t j) const {
    const int64_t bend = channel / (kChannels / kBends);
    double sum = 0;
    for (int64_t tap = 0; tap < kTaps; ++tap) {
      const int64_t row = tap / kColumns, column = tap % kColumns;
      const int64_t shift = (bend * kTaps + tap) * 2;
      const double y = static_cast<double>(i * kStride - kTop +
                                           row * kDilation) +
                       offset.at(n, shift, i, j);
      const double x_place = static_cast<double>(j * kStride - kLeft +
                                                 column * kDilation) +
                             offset.at(n, shift + 1, i, j);
      const double share = has_mask ? mask.at(n, shift / 2, i, j) : 1;
      sum += share * sample(n, channel, y, x_place) *
             weight.at(feature, channel % (kChannels / kGroups), row, column);
    }
    return sum;
  }

  std::vector<double> expected() const {
    constexpr int64_t kOfGroup = kChannels / kGroups;
    std::vector<double> results;
    for (int64_t n = 0; n < kBatch; ++n)
      for (int64_t feature = 0; feature < kFeatures; ++feature)
        for (int64_t i = 0; i < kDown; ++i)
          for (int64_t j = 0; j < kAcross; ++j) {
            const int64_t first = feature / (kFeatures / kGroups) * kOfGroup;
            double sum =
                has_bias ? bias.numbers[static_cast<size_t>(feature)] : 0;
            for (int64_t c = first; c < first + kOfGroup; ++c)
              sum += window(n, feature, c, i, j);
            results.push_back(sum);
          }
    return results;
  }

  Message message(int64_t type) const {
    const std::vector<Message> attributes = {
        int_attribute("group", kGroups),
        int_attribute("offset_group", kBends),
        ints_attribute("kernel_shape", {kRows, kColumns}),
        ints_attribute("strides", {kStride, kStride}),
        ints_attribute("dilations", {kDilation, kDilation}),
        ints_attribute("pads", {kTop, kLeft, kBottom, kRight})};
    GraphParts parts{
        {node("DeformConv",
              {"x", "w", "bent", has_bias ? "b" : "", has_mask ? "m" : ""},
              {"y"}, attributes)},
        {value_info("x", type, x.sizes), value_info("w", type, weight.sizes),
         value_info("bent", type, offset.sizes)},
        {value_info("y", type, {-1, -1, -1, -1})},
        {}};
    if (has_bias) parts.inputs.push_back(value_info("b", type, bias.sizes));
    if (has_mask) parts.inputs.push_back(value_info("m", type, mask.sizes));
    return model(graph(parts), 19);
  }

  ValueList inputs() const {
    ValueList list;
    for (const Array* const one : {&x, &weight, &offset})
      list.emplace_back(tensor_of(*one, dtype));
    if (has_bias) list.emplace_back(tensor_of(bias, dtype));
    if (has_mask) list.emplace_back(tensor_of(mask, dtype));
    return list;
  }
};

Tensor result_of(const std::string& path, const ValueList& inputs,
                 bool compiled) {
  const onnx::Program program = onnx::load(path);
  if (compiled) program.module->compile();
  return program.run(inputs).as_tensor();
}

struct Precision {
  const char* name;
  DType dtype;
  int64_t type;  // TensorProto's.
  // The largest error of a sum of twelve products, each below 1. Halves round
  // every sample by 2^-12 and a result of up to 4 by 2^-10; in the others, the
  // places of the samples are off by some units of the last place.
  double bound;
};

class DeformConv : public ::testing::TestWithParam<Precision> {};

TEST_P(DeformConv, IsASumOfSamples) {
  const Precision& precision = GetParam();
  for (const bool has_mask : {false, true})
    for (const bool has_bias : {false, true}) {
      const Case one(precision.dtype, has_mask, has_bias);
      const std::vector<double> expected = one.expected();
      const std::string path =
          write_model(one.message(precision.type).bytes());
      for (const bool compiled : {false, true}) {
        SCOPED_TRACE(::testing::Message() << "mask " << has_mask << ", bias "
                                        << has_bias << ", compiled "
                                        << compiled);
        const Tensor got = result_of(path, one.inputs(), compiled);
        EXPECT_EQ(got.dtype(), precision.dtype);
        ASSERT_EQ(got.sizes(), (Dims{Case::kBatch, Case::kFeatures,
                                     Case::kDown, Case::kAcross}));
        const Tensor wide = got.to(DType::f64).contiguous();
        for (size_t i = 0; i < expected.size(); ++i)
          ASSERT_NEAR(wide.data_as<double>()[i], expected[i], precision.bound)
              << "element " << i;
      }
    }
}

INSTANTIATE_TEST_SUITE_P(
    All, DeformConv,
    ::testing::Values(Precision{"f64", DType::f64, 11, 1e-13},
                    Precision{"f32", DType::f32, kFloat, 1e-5},
                    Precision{"f16", DType::f16, 10, 1e-2}),
    [](const auto& info) { return info.param.name; });

// One feature of one channel, with weights of this size; nothing is bent.
Message plain(const std::vector<int64_t>& kernel,
              const std::vector<int64_t>& dilations) {
  return model(
      graph({{node("DeformConv", {"x", "w", "bent"}, {"y"},
                   {ints_attribute("dilations", dilations)})},
             {value_info("x", kFloat, {1, 1, 4, 4}),
              value_info("w", kFloat, {1, 1, kernel[0], kernel[1]}),
              value_info("bent", kFloat, {1, -1, 2, 2})},
             {value_info("y", kFloat, {-1, -1, -1, -1})},
             {}}),
      19);
}

// All places but the first one of each window are outside of the plane.
TEST(DeformConvSizes, ADilationMayBeLargerThanAnyPlane) {
  const std::string path =
      write_model(plain({3, 1}, {int64_t{1} << 62, 1}).bytes());
  const Tensor x = Tensor::full({1, 1, 4, 4}, 5, DType::f32);
  const Tensor weight = Tensor::full({1, 1, 3, 1}, 2, DType::f32);
  for (const bool compiled : {false, true}) {
    const Tensor got =
        result_of(path, {x, weight, Tensor::zeros({1, 6, 2, 2})}, compiled)
            .contiguous();
    ASSERT_EQ(got.sizes(), (Dims{1, 1, 2, 2}));
    for (int64_t i = 0; i < got.numel(); ++i)
      EXPECT_EQ(got.data_as<float>()[i], 10);
  }
}

void expect_refused(const Message& message, const std::string& why) {
  const std::string path = write_model(message.bytes());
  try {
    onnx::load(path);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("node_DeformConv"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr(why));
  }
}

TEST(DeformConvSizes, WindowsThatNoGraphHoldsAreRefused) {
  expect_refused(plain({16384, 16384}, {1, 1}), "the window is too large");
  expect_refused(plain({1, int64_t{1} << 40}, {1, 1}),
                 "the window is too large");
  expect_refused(plain({0, 2}, {1, 1}), "expected a window of 1 or more");
}

}  // namespace TEST_FILE
}  // namespace fxjit::testing_onnx
