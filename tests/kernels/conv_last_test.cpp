// Steps of conv_last: results with channels innermost, against sums in double
// precision.
#include <gtest/gtest.h>

#include <limits>

#include "kernels/convolution/image_conv.h"
#include "src/passes/lowering/image_way.h"
#include "tests/kernels/conv_last_util.h"

namespace fxjit::kernels::testing {
namespace TEST_FILE {

class ConvLast : public ::testing::TestWithParam<ConvCase> {};

TEST_P(ConvLast, StepEqualsDoublePrecision) {
  for (bool channels_last : {false, true})
    expect_step(LastCall(GetParam(), channels_last), true, kSliceThreads);
}

TEST_P(ConvLast, OneThreadAndWeightsOfTheCall) {
  const LastCall call(GetParam(), true);
  expect_step(call, true, 1);
  expect_step(call, false, 2);
}

TEST_P(ConvLast, InterpretedEqualsDoublePrecision) {
  const LastCall call(GetParam(), true);
  const Value result = ops::run_eager({passes::conv_last_op(), call.args});
  expect_result(call, result.as_tensor());
}

std::string case_name(const ::testing::TestParamInfo<ConvCase>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Cases, ConvLast, ::testing::ValuesIn(kConvCases),
                         case_name);

TEST(ImageConvLoops, EveryLevelEqualsDoublePrecision) {
  for (CpuLevel level : host_levels())
    for (int64_t features : {8, 13, 16, 24, 33, 64, 100})
      for (int64_t channels : {1, 3, 4})
        for (int64_t stride : {1, 2, 3}) {
          const ConvCase c{"level",
                           {2, channels, 9, 27},
                           {features, channels, 3, 4},
                           {stride, stride},
                           {2, 1},
                           {1, 1}};
          for (bool channels_last : {false, true}) {
            const LastCall call(c, channels_last);
            ASSERT_TRUE(passes::is_image_convolution(call.params, call.input,
                                                     call.weight));
            expect_level(ImageConv(call.params, call.input, call.weight), call,
                         level);
          }
        }
}

// Fewer places than a block, windows wider than the image.
TEST(ImageConvStep, WindowsStridesAndDilations) {
  for (const Dims& window : {Dims{1, 1}, Dims{6, 6}, Dims{7, 3}, Dims{2, 9}})
    for (int64_t width : {1, 7, 8, 21})
      for (int64_t stride : {1, 2})
        for (int64_t dilation : {1, 2})
          for (int64_t pad : {0, 4, 9}) {
            if (width + 2 * pad <= dilation * (window[1] - 1)) continue;
            const ConvCase c{"window",
                             {1, 3, 17, width},
                             {20, 3, window[0], window[1]},
                             {stride, stride},
                             {pad, pad},
                             {dilation, dilation}};
            expect_step(LastCall(c, false), true, 3);
          }
}

TEST(ImageConvStep, LinesAndVolumes) {
  const ConvCase line{"line", {2, 2, 90}, {24, 2, 7}, {2}, {3}, {1}};
  const ConvCase volume{"volume",  {1, 2, 5, 9, 12}, {16, 2, 3, 3, 3},
                        {1, 2, 1}, {1, 1, 1},        {1, 1, 1}};
  for (const ConvCase& c : {line, volume})
    expect_step(LastCall(c, false), true, 2);
}

// Rows and channels of a larger image.
TEST(ImageConvStep, ReadsPartsOfImages) {
  const ConvCase c{"part", {2, 3, 9, 11}, {24, 3, 3, 3},
                   {1, 1}, {1, 1},        {1, 1}};
  LastCall call(c, false);
  const Tensor whole = random_tensor({2, 5, 12, 30});
  call.input = whole.as_strided(c.input, {5 * 12 * 30, 12 * 30, 30, 2}, 37);
  call.args[0] = call.input;
  expect_step(call, true, 2);
}

TEST(ConvLastStep, NanAndInfinityStay) {
  const ConvCase cases[] = {
      {"special", {1, 32, 9, 9}, {32, 32, 3, 3}, {2, 2}, {1, 1}, {1, 1}},
      {"depthwise", {1, 32, 9, 9}, {32, 1, 3, 3}, {2, 2}, {1, 1}, {1, 1}, 32},
      {"few", {1, 4, 25, 29}, {32, 4, 3, 3}, {2, 2}, {1, 1}, {1, 1}}};
  for (const ConvCase& c : cases) {
    LastCall call(c, true);
    auto* data = call.input.data_as<float>();
    data[0] = std::numeric_limits<float>::quiet_NaN();
    data[32 * 4 + 5] = std::numeric_limits<float>::infinity();
    data[32 * 40 + 7] = -std::numeric_limits<float>::infinity();
    expect_step(call, true, 2);
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit::kernels::testing
