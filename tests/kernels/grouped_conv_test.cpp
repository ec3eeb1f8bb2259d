// Convolutions in groups of few channels, at every CPU level, against sums in
// double precision.
#include <limits>

#include "kernels/convolution/grouped_conv.h"
#include "kernels/convolution/planar_groups.h"
#include "src/program/convolution/rules.h"
#include "tests/kernels/conv_last_util.h"

namespace fxjit::kernels::testing {
namespace TEST_FILE {

struct Form {
  int64_t groups, channels, height, width;
  Dims window = {3, 3}, stride = {1, 1}, padding = {1, 1}, dilation = {1, 1};

  ConvCase conv() const {
    return {"grouped",
            {2, groups * channels, height, width},
            {groups * channels, channels, window[0], window[1]},
            stride,
            padding,
            dilation,
            groups};
  }
};

bool fits(const LastCall& call, CpuLevel level) {
  return program::is_grouped_last(call.params, call.input, call.weight) &&
         (program::has_turned_sums(call.weight, level) ||
          program::has_planes(call.params, call.input, call.weight, level));
}

void expect_loops(const Form& form, CpuLevel level) {
  const LastCall call(form.conv(), true);
  if (program::has_planes(call.params, call.input, call.weight, level))
    expect_level(PlanarGroups(call.params, call.input, call.weight, level),
                 call, level);
  if (program::has_turned_sums(call.weight, level))
    expect_level(GroupedConv(call.params, call.input, call.weight, level), call,
                 level);
}

// Of one level's loops, and of the step at that level.
void expect_form(const Form& form, CpuLevel level) {
  const LastCall call(form.conv(), true);
  SCOPED_TRACE(::testing::Message()
               << form.groups << " groups of " << form.channels << ", "
               << form.height << " x " << form.width << ", window "
               << form.window[0] << ", stride " << form.stride[0] << " x "
               << form.stride[1] << ", padding " << form.padding[1] << ", "
               << cpu_level_name(level));
  ASSERT_TRUE(fits(call, level));
  expect_step(call, true, 2, level);
  expect_loops(form, level);
}

std::vector<CpuLevel> levels_for(int64_t channels) {
  std::vector<CpuLevel> levels;
  for (CpuLevel level : host_levels())
    if (level == CpuLevel::avx512 ||
        (level == CpuLevel::avx2 && channels <= 12))
      levels.push_back(level);
  return levels;
}

TEST(GroupedConv, EveryNumberOfChannelsAndGroups) {
  for (int64_t channels : {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
    for (CpuLevel level : levels_for(channels))
      for (int64_t groups : {2, 3, 4, 7, 8})
        for (int64_t stride : {1, 2})
          if (stride == 1 || channels <= 8 || channels == 12)
            expect_form({.groups = groups,
                         .channels = channels,
                         .height = 5,
                         .width = 23,
                         .stride = {stride, stride}},
                        level);
}

// Rows of fewer places than a block or a vector, with and without padding.
TEST(GroupedConv, SmallImages) {
  for (int64_t channels : {2, 4, 6, 8})
    for (CpuLevel level : levels_for(channels))
      for (int64_t groups : {2, 5})
        for (int64_t width : {1, 2, 3, 4, 5, 8, 9})
          for (int64_t stride : {1, 2})
            for (int64_t pad : {0, 1})
              if (width + 2 * pad >= 3)
                expect_form({.groups = groups,
                             .channels = channels,
                             .height = 4,
                             .width = width,
                             .stride = {stride, stride},
                             .padding = {1, pad}},
                            level);
}

// Rows that blocks of one size and of both sizes fill, or nearly fill.
TEST(GroupedConv, EveryWidth) {
  for (int64_t channels : {2, 3, 4})
    for (CpuLevel level : levels_for(channels))
      for (int64_t width = 10; width <= 30; ++width)
        expect_loops({.groups = width % 2 == 0 ? 2 : 5,
                      .channels = channels,
                      .height = 3,
                      .width = width},
                     level);
}

// The loops for four channels and more, some of which the planner leaves to
// the library where images are small.
void expect_planes(CpuLevel level) {
  for (int64_t channels = 4; channels <= 16; ++channels)
    for (int64_t groups : {2, 3, 4})
      for (int64_t width : {1, 2, 3, 4, 5, 6, 9, 13, 14, 15, 20, 31})
        for (int64_t stride : {1, 2})
          for (int64_t pad : {0, 1})
            if (width + 2 * pad >= 3) {
              SCOPED_TRACE(::testing::Message()
                           << channels << " channels, width " << width
                           << ", stride " << stride << ", padding " << pad);
              expect_loops({.groups = groups,
                            .channels = channels,
                            .height = 5,
                            .width = width,
                            .stride = {stride, stride},
                            .padding = {1, pad}},
                           level);
            }
}

TEST(GroupedConv, PlanarGroups) {
  if (host_cpu_level() < CpuLevel::avx2)
    GTEST_SKIP() << "these loops need AVX2";
  for (CpuLevel level : levels_for(12)) expect_planes(level);
}

// Of more memory than caches hold.
TEST(GroupedConv, LargeImages) {
  for (CpuLevel level : levels_for(13))
    expect_form({.groups = 32, .channels = 16, .height = 33, .width = 33},
                level);
  for (CpuLevel level : levels_for(12))
    expect_form({.groups = 32,
                 .channels = 12,
                 .height = 66,
                 .width = 66,
                 .stride = {2, 2}},
                level);
  for (CpuLevel level : levels_for(8))
    expect_form({.groups = 32, .channels = 8, .height = 47, .width = 47},
                level);
}

// Rows of which planes hold a part, with padding and ends of any length.
TEST(GroupedConv, LongRows) {
  for (int64_t channels : {4, 6, 12})
    for (CpuLevel level : levels_for(channels))
      for (int64_t stride : {1, 2})
        for (int64_t pad : {0, 1})
          for (int64_t width : {699, 700})
            expect_form({.groups = 4,
                         .channels = channels,
                         .height = 2,
                         .width = width,
                         .stride = {1, stride},
                         .padding = {1, pad}},
                        level);
}

TEST(GroupedConv, HeightsOfWindows) {
  for (int64_t channels : {4, 7})
    for (CpuLevel level : levels_for(channels))
      for (int64_t height : {1, 2, 5})
        for (int64_t stride : {1, 3})
          for (int64_t dilation : {1, 2})
            for (int64_t pad : {0, 4})
              expect_form({.groups = 6,
                           .channels = channels,
                           .height = 11,
                           .width = 18,
                           .window = {height, 3},
                           .stride = {stride, 1},
                           .padding = {pad, 1},
                           .dilation = {dilation, 1}},
                          level);
}

TEST(GroupedConv, LinesAndVolumes) {
  const ConvCase line{"line", {2, 12, 33}, {12, 4, 3}, {2}, {1}, {1}, 3};
  const ConvCase volume{"volume",  {2, 24, 4, 5, 9}, {24, 8, 3, 2, 3},
                        {1, 2, 1}, {1, 0, 1},        {1, 1, 1},
                        3};
  ConvCase wide = volume;
  wide.input[1] = 36, wide.weight[0] = 36, wide.weight[1] = 12;
  for (const ConvCase& c : {line, volume, wide}) {
    const LastCall call(c, true);
    EXPECT_TRUE(program::is_grouped_last(call.params, call.input, call.weight));
    for (CpuLevel level : host_levels()) expect_step(call, true, 2, level);
  }
}

// Other windows, and groups that change their number of channels, are not
// taken, and computed all the same.
TEST(GroupedConv, OtherConvolutionsAreNotTaken) {
  const Form forms[] = {
      {.groups = 3, .channels = 4, .height = 9, .width = 9, .window = {3, 5}},
      {.groups = 3, .channels = 4, .height = 9, .width = 9, .stride = {1, 3}},
      {.groups = 3, .channels = 4, .height = 9, .width = 9, .padding = {0, 2}},
      {.groups = 3, .channels = 4, .height = 9, .width = 9, .dilation = {1, 2}},
      {.groups = 3, .channels = 13, .height = 9, .width = 9},
      {.groups = 3, .channels = 9, .height = 9, .width = 9, .stride = {2, 2}},
      {.groups = 1, .channels = 4, .height = 9, .width = 9}};
  for (const Form& form : forms) {
    const LastCall call(form.conv(), true);
    EXPECT_FALSE(
        program::is_grouped_last(call.params, call.input, call.weight));
    expect_step(call, true, 1);
  }
  ConvCase wider = forms[0].conv();
  wider.weight = {24, 4, 3, 3};
  const LastCall call(wider, true);
  EXPECT_FALSE(program::is_grouped_last(call.params, call.input, call.weight));
  expect_step(call, true, 1);
}

TEST(GroupedConv, WindowsWithoutTaps) {
  for (int64_t channels : {6, 12}) {
    const Form form{.groups = 2,
                    .channels = channels,
                    .height = 8,
                    .width = 8,
                    .window = {0, 3},
                    .padding = {0, 1}};
    const LastCall call(form.conv(), true);
    for (CpuLevel level : {CpuLevel::avx2, CpuLevel::avx512})
      EXPECT_FALSE(
          program::has_planes(call.params, call.input, call.weight, level));
    if (channels <= 8) expect_step(call, true, 1);
  }
}

// Taps far apart would need all rows between them as planes.
TEST(GroupedConv, FarTapsAreNotTaken) {
  for (int64_t channels : {6, 12}) {
    const Form form{.groups = 8,
                    .channels = channels,
                    .height = 16,
                    .width = 64,
                    .padding = {3000, 1},
                    .dilation = {3000, 1}};
    const LastCall call(form.conv(), true);
    for (CpuLevel level : {CpuLevel::avx2, CpuLevel::avx512})
      EXPECT_FALSE(
          program::has_planes(call.params, call.input, call.weight, level));
    expect_step(call, true, 1);
  }
}

// Some channels of a larger image, whose places lie apart.
TEST(GroupedConv, ReadsPartsOfImages) {
  for (int64_t channels : {3, 4, 6})
    for (CpuLevel level : levels_for(channels))
      for (int64_t stride : {1, 2})
        for (int64_t padding : {0, 1}) {
          const Form form{.groups = 2,
                          .channels = channels,
                          .height = 9,
                          .width = 21,
                          .stride = {stride, stride},
                          .padding = {1, padding}};
          LastCall call(form.conv(), true);
          const Tensor whole = random_tensor({2, 9, 21, 20});
          call.read_from(whole.as_strided({2, 2 * channels, 9, 21},
                                          {9 * 21 * 20, 1, 21 * 20, 20}, 7));
          expect_step(call, true, 2, level);
        }
}

// All places of a row, or of an image, are one number for each channel.
TEST(GroupedConv, ReadsBroadcastRows) {
  for (int64_t channels : {4, 6, 12})
    for (CpuLevel level : levels_for(channels))
      for (int64_t stride : {1, 2})
        for (int64_t row_step : {0, 1}) {
          const Form form{.groups = 2,
                          .channels = channels,
                          .height = 9,
                          .width = 21,
                          .stride = {stride, stride}};
          LastCall call(form.conv(), true);
          const int64_t all = 2 * channels;
          call.read_from(random_tensor({2, 9, all})
                             .as_strided({2, all, 9, 21},
                                         {9 * all, 1, row_step * all, 0}, 0));
          expect_step(call, true, 2, level);
        }
}

// More padding on one side of a row than on the other.
TEST(GroupedConv, PadsOneEnd) {
  for (int64_t channels : {4, 6, 12})
    for (CpuLevel level : levels_for(channels))
      for (int64_t width : {8, 9, 30})
        for (int64_t groups : {2, 4})
          for (bool before : {false, true}) {
            const Form form{.groups = groups,
                            .channels = channels,
                            .height = 4,
                            .width = width,
                            .padding = {1, 0}};
            LastCall call(form.conv(), true);
            call.pad_width(before, !before);
            expect_step(call, true, 2, level);
          }
}

// Padding adds nothing, whatever the weight that meets it, and groups do not
// see each other's numbers.
TEST(GroupedConv, NanAndInfinity) {
  constexpr float kSpecial[] = {std::numeric_limits<float>::quiet_NaN(),
                                std::numeric_limits<float>::infinity(),
                                -std::numeric_limits<float>::infinity()};
  for (int64_t channels : {3, 4, 6, 12})
    for (CpuLevel level : levels_for(channels))
      for (int64_t groups : {2, 3, 4})
        for (bool in_weights : {false, true})
          for (float special : kSpecial) {
            const Form form{.groups = groups,
                            .channels = channels,
                            .height = 7,
                            .width = 11};
            LastCall call(form.conv(), true);
            (in_weights ? call.weight : call.input).data_as<float>()[20] =
                special;
            expect_step(call, true, 2, level);
            expect_step(call, false, 1, level);
          }
}

// Lanes that hold nothing are read all the same where the row goes on.
TEST(GroupedConv, NanInLanesThatHoldNothing) {
  for (int64_t channels : {3, 6})
    for (CpuLevel level : levels_for(channels))
      for (int64_t at : {7 * channels, 8 * channels}) {
        const Form form{
            .groups = 2, .channels = channels, .height = 7, .width = 11};
        LastCall call(form.conv(), true);
        call.input.data_as<float>()[at] =
            std::numeric_limits<float>::quiet_NaN();
        expect_step(call, true, 2, level);
      }
}

}  // namespace TEST_FILE
}  // namespace fxjit::kernels::testing
