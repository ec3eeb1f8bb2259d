// Depthwise convolutions whose places have few channels, at every CPU level,
// against sums in double precision.
#include <limits>

#include "kernels/convolution/narrow_depthwise.h"
#include "src/program/convolution/rules.h"
#include "tests/kernels/conv_last_util.h"

namespace fxjit::kernels::testing {
namespace {

struct Form {
  int64_t channels, height, width;
  Dims window = {3, 3}, stride = {1, 1}, padding = {1, 1}, dilation = {1, 1};

  ConvCase conv() const {
    return {"narrow",
            {2, channels, height, width},
            {channels, 1, window[0], window[1]},
            stride,
            padding,
            dilation,
            channels};
  }
};

bool fits(const WorkCall& call, CpuLevel level) {
  return program::is_narrow_depthwise(call.params, call.input, call.weight,
                                      level);
}

// On memory that nothing may be read or written beside.
void expect_loops(const Form& form, CpuLevel level) {
  const WorkCall call(form.conv(), kConvWorks[1], true);
  expect_level(NarrowDepthwise(call.params, call.input, call.weight, level),
               call, level);
}

// Tells whether the loops are those of few channels.
bool expect_form(const Form& form, CpuLevel level, int work = 3) {
  const WorkCall call(form.conv(), kConvWorks[work], true);
  ::testing::Message what;
  what << form.channels << " channels, " << form.height << " x " << form.width
       << ", window " << form.window[0] << " x " << form.window[1]
       << ", stride " << form.stride[0] << " x " << form.stride[1]
       << ", padding " << form.padding[0] << ", dilation " << form.dilation[0]
       << ", " << cpu_level_name(level);
  SCOPED_TRACE(what);
  expect_step(call, true, 2, level);
  if (!fits(call, level)) return false;
  expect_loops(form, level);
  return true;
}

TEST(NarrowDepthwise, EveryNumberOfChannels) {
  for (CpuLevel level : host_levels()) {
    int narrow = 0;
    for (int64_t channels = 2; channels < 17; ++channels)
      for (int64_t size : {3, 5})
        for (int64_t stride : {1, 2})
          narrow += expect_form({.channels = channels,
                                 .height = 19,
                                 .width = 37,
                                 .window = {size, size},
                                 .stride = {stride, stride},
                                 .padding = {size / 2, size / 2}},
                                level);
    EXPECT_GT(narrow, 0) << cpu_level_name(level);
  }
}

// Which numbers of channels the loops take.
TEST(NarrowDepthwise, WhatIsTaken) {
  const auto taken = [](CpuLevel level, int64_t size, int64_t stride) {
    std::string channels;
    for (int64_t c = 2; c < 18; ++c) {
      const Form form{.channels = c,
                      .height = 19,
                      .width = 37,
                      .window = {size, size},
                      .stride = {stride, stride}};
      if (fits(WorkCall(form.conv(), {}, true), level))
        channels += (channels.empty() ? "" : " ") + std::to_string(c);
    }
    return channels;
  };
  for (int64_t size : {3, 5}) {
    EXPECT_EQ(taken(CpuLevel::sse41, size, 1), "2 3");
    EXPECT_EQ(taken(CpuLevel::sse41, size, 2), "");
    EXPECT_EQ(taken(CpuLevel::avx2, size, 1),
              "2 3 4 5 6 7 9 10 11 12 13 14 15");
    for (int64_t stride : {1, 2})
      EXPECT_EQ(taken(CpuLevel::avx512, size, stride),
                "2 3 4 5 6 7 8 9 10 11 12 13 14 15");
  }
  EXPECT_EQ(taken(CpuLevel::avx2, 3, 2), "2 3 4 5 6 7 9 10 13 14");
  EXPECT_EQ(taken(CpuLevel::avx2, 5, 2), "2 3");
}

TEST(NarrowDepthwise, WindowsStridesAndDilations) {
  for (CpuLevel level : host_levels())
    for (const Dims& window :
         {Dims{1, 1}, Dims{3, 3}, Dims{5, 5}, Dims{7, 3}, Dims{2, 9}})
      for (const Dims& stride : {Dims{1, 1}, Dims{2, 2}, Dims{1, 2}, Dims{2, 1},
                                 Dims{3, 1}, Dims{3, 3}})
        for (int64_t dilation : {1, 2})
          for (int64_t pad : {0, 2, 9})
            for (int64_t channels : {3, 6, 10})
              expect_form({.channels = channels,
                           .height = 19,
                           .width = 21,
                           .window = window,
                           .stride = stride,
                           .padding = {pad, pad},
                           .dilation = {dilation, dilation}},
                          level, 2);
}

// Rows shorter than a vector, and images of fewer rows than are computed at
// once.
TEST(NarrowDepthwise, SmallImages) {
  for (CpuLevel level : host_levels())
    for (int64_t width : {1, 2, 3, 5, 8, 9, 13})
      for (int64_t height : {1, 2, 3, 6, 7})
        for (int64_t stride : {1, 2})
          for (int64_t channels : {2, 5, 6, 12})
            expect_form({.channels = channels,
                         .height = height,
                         .width = width,
                         .stride = {stride, stride}},
                        level);
}

TEST(NarrowDepthwise, LongRows) {
  for (CpuLevel level : host_levels())
    for (int64_t stride : {1, 2})
      for (int64_t channels : {3, 6, 12})
        expect_form({.channels = channels,
                     .height = 9,
                     .width = 1201,
                     .window = {5, 5},
                     .stride = {stride, stride},
                     .padding = {2, 2}},
                    level, 1);
}

// Rows that pairs of vectors with the same channels fill, or leave some places
// of.
TEST(NarrowDepthwise, RowsOfPairs) {
  for (CpuLevel level : host_levels())
    for (int64_t channels : {4, 6, 10, 15})
      for (int64_t size : {3, 5})
        for (int64_t pad : {int64_t{0}, size / 2})
          for (int64_t places : {15, 16, 17, 31, 32, 33})
            expect_form({.channels = channels,
                         .height = 11,
                         .width = places - 2 * pad + size - 1,
                         .window = {size, size},
                         .padding = {pad, pad}},
                        level, 3);
}

// Taps further apart than the image is wide or high.
TEST(NarrowDepthwise, TapsFarApart) {
  for (CpuLevel level : host_levels())
    for (int64_t stride : {1, 2})
      for (int64_t channels : {3, 6})
        expect_form({.channels = channels,
                     .height = 9,
                     .width = 21,
                     .stride = {stride, stride},
                     .padding = {30, 30},
                     .dilation = {25, 25}},
                    level, 2);
}

// Some channels of a larger image, whose places lie apart.
TEST(NarrowDepthwise, ReadsPartsOfImages) {
  for (CpuLevel level : host_levels())
    for (int64_t channels : {3, 6, 10})
      for (int64_t stride : {1, 2}) {
        const Form form{.channels = channels,
                        .height = 9,
                        .width = 31,
                        .stride = {stride, stride}};
        WorkCall call(form.conv(), kConvWorks[3], true);
        const Tensor whole = random_tensor({2, 9, 31, 20});
        call.read_from(whole.as_strided({2, channels, 9, 31},
                                        {9 * 31 * 20, 1, 31 * 20, 20}, 7));
        expect_step(call, true, 2, level);
      }
}

TEST(NarrowDepthwise, ReadsRowsThatLieApart) {
  for (CpuLevel level : host_levels())
    for (int64_t channels : {3, 6, 12})
      for (int64_t stride : {1, 2}) {
        const Form form{.channels = channels,
                        .height = 9,
                        .width = 31,
                        .stride = {stride, stride}};
        WorkCall call(form.conv(), kConvWorks[3], true);
        const int64_t row = 40 * channels;
        call.read_from(random_tensor({2, 9, 40, channels})
                           .as_strided({2, channels, 9, 31},
                                       {9 * row, 1, row, channels}, 12));
        expect_step(call, true, 1, level);
      }
}

// More padding on one side of a row than on the other.
TEST(NarrowDepthwise, PadsOneEnd) {
  for (CpuLevel level : host_levels())
    for (int64_t channels : {3, 6, 10})
      for (int64_t stride : {1, 2})
        for (bool before : {false, true}) {
          const Form form{.channels = channels,
                          .height = 9,
                          .width = 32,
                          .stride = {stride, stride},
                          .padding = {1, 0}};
          WorkCall call(form.conv(), kConvWorks[1], true);
          call.pad_width(before, !before);
          expect_step(call, true, 2, level);
        }
}

// Padding adds nothing, whatever the weight that meets it.
TEST(NarrowDepthwise, NanAndInfinity) {
  constexpr float kSpecial[] = {std::numeric_limits<float>::quiet_NaN(),
                                std::numeric_limits<float>::infinity(),
                                -std::numeric_limits<float>::infinity()};
  for (CpuLevel level : host_levels())
    for (int64_t channels : {6, 10, 12})
      for (int64_t stride : {1, 2})
        for (bool in_weights : {false, true})
          for (float special : kSpecial) {
            const Form form{.channels = channels,
                            .height = 9,
                            .width = 31,
                            .stride = {stride, stride}};
            WorkCall call(form.conv(), kConvWorks[1], true);
            (in_weights ? call.weight : call.input).data_as<float>()[20] =
                special;
            expect_step(call, true, 2, level);
            expect_step(call, false, 1, level);
          }
}

}  // namespace
}  // namespace fxjit::kernels::testing
