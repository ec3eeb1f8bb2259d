// Windows over planes where the input lies so, with the work behind them.

#include "tests/passes/pass_matchers.h"

namespace fxjit {
namespace TEST_FILE {

const Tensor kFilters = random_tensor({6, 1, 3, 3}, 3);
const Tensor kBias = random_tensor({6}, 4);
const Tensor kImage = random_tensor({2, 6, 9, 17});

template <typename Fn>
std::vector<std::string> fused(Fn f, ValueList inputs, bool planes = true) {
  passes::PipelineOptions options;
  options.plane_windows = planes;
  const Passed passed =
      testing::run_passes_with(options, testing::trace(f, 1), inputs);
  EXPECT_EQ(wrong_result(passed), "");
  return regions(passed.model);
}

Value depthwise(const Value& x, Value stride = 1) {
  return F::conv2d(x, kFilters, kBias, stride, Value(1), Value(1), Value(6));
}

TEST(Windows, TakeWhatFollows) {
  EXPECT_THAT(fused([](Value x) { return F::silu(depthwise(x, 2)); }, {kImage}),
              ElementsAre("contraction: window+silu"));
  EXPECT_THAT(
      fused([](Value x) { return F::relu(depthwise(x) + x); }, {kImage}),
      ElementsAre("contraction: window+add+relu"));
}

TEST(Windows, OfVolumes) {
  const Tensor volume = random_tensor({6, 1, 2, 3, 3}, 6);
  EXPECT_THAT(fused(
                  [&](Value x) {
                    return F::conv3d(x, volume, kBias, Value(1), Value(1),
                                     Value(1), Value(6));
                  },
                  {random_tensor({1, 6, 4, 7, 8})}),
              ElementsAre("contraction: window"));
}

TEST(Windows, OfPooling) {
  EXPECT_THAT(
      fused(
          [](Value x) {
            return F::relu(F::max_pool2d(x, Value(3), Value(2), Value(1)));
          },
          {kImage}),
      ElementsAre("contraction: window+relu"));
  for (bool counts_padding : {false, true})
    EXPECT_THAT(fused(
                    [=](Value x) {
                      return F::avg_pool2d(x, Value(3), Value(2), Value(1),
                                           true, counts_padding);
                    },
                    {kImage}),
                ElementsAre("contraction: window+div"));
}

Tensor bytes_of(const Tensor& numbers, DType dtype) {
  return ((Value(numbers) + 2.0) * 31.0).as_tensor().to(dtype);
}

// What lies outside counts as the zero point; sums are whole.
TEST(Windows, OfIntegers) {
  const Tensor image = bytes_of(kImage, DType::u8);
  const Tensor filters = bytes_of(kFilters, DType::i8);
  for (const int zero : {0, 77})
    EXPECT_THAT(fused(
                    [&](Value x) {
                      const Dims one(2, 1);
                      return function("fxjit.integer_conv",
                                      {x, filters, one, one, one, one, 6,
                                       Tensor::full({}, zero, DType::u8),
                                       Value(), DType::f32});
                    },
                    {image}),
                ::testing::Contains("contraction: window"));
  EXPECT_THAT(
      fused([](Value x) { return F::max_pool2d(x, Value(3)); }, {image}),
      ::testing::Contains("contraction: window+cast"));
}

TEST(Windows, LeaveChannelsInnermostThere) {
  const Tensor last = random_tensor({2, 9, 11, 6})
                          .as_strided({2, 6, 9, 11}, {594, 1, 66, 6}, 0);
  for (bool planes : {false, true}) {
    EXPECT_THAT(
        fused([](Value x) { return F::silu(depthwise(x)); }, {last}, planes),
        ElementsAre("contraction: window+silu"));
    EXPECT_THAT(fused([](Value x) { return F::max_pool2d(x, Value(2)); },
                      {last}, planes),
                ElementsAre("contraction: window"));
  }
}

// Narrow images leave lanes of planes empty, some machines have no planes.
TEST(Windows, TurnOtherPlanes) {
  const auto turned = ElementsAre("rows: materialize", "contraction: window",
                                  "rows: materialize");
  EXPECT_THAT(fused([](Value x) { return depthwise(x); },
                    {random_tensor({1, 6, 9, 7})}),
              turned);
  EXPECT_THAT(fused([](Value x) { return depthwise(x); }, {kImage}, false),
              turned);
}

// Many taps over planes, which few channels do not fill vectors for.
TEST(Windows, OfManyTaps) {
  const auto large = [](int64_t channels) {
    const Tensor filters = random_tensor({channels, 1, 7, 7}, 3);
    return fused(
        [&](Value x) {
          return F::conv2d(x, filters, None, Value(1), Value(3), Value(1),
                           Value(channels));
        },
        {random_tensor({1, channels, 9, 17})});
  };
  EXPECT_THAT(large(8), ElementsAre("contraction: window"));
  EXPECT_THAT(large(6), ElementsAre("rows: materialize", "contraction: window",
                                    "rows: materialize"));
}

// The code has all taps one after the other.
TEST(Windows, OfManyTapsAreLeft) {
  const Tensor filters = random_tensor({6, 1, 13, 13}, 3);
  EXPECT_THAT(fused(
                  [&](Value x) {
                    return F::conv2d(x, filters, kBias, Value(1), Value(6),
                                     Value(1), Value(6));
                  },
                  {kImage}),
              Contains(HasSubstr("conv_last")));
}

// A product over planes takes what follows, as one over rows does.
TEST(Windows, OfOneElementOverPlanes) {
  const Tensor weight = random_tensor({4, 6, 1, 1}, 7);
  const Tensor bias = random_tensor({4}, 8),
               image = random_tensor({2, 6, 9, 32});
  const auto product = [&](Value x) {
    return F::silu(F::conv2d(x, weight, bias)) + 1.0;
  };
  EXPECT_THAT(fused(product, {image}),
              ElementsAre("contraction: plane_product+add+silu+add"));
  // Few places would leave most of a last panel of columns empty.
  EXPECT_THAT(fused(product, {random_tensor({2, 6, 3, 5})}),
              Not(Contains(HasSubstr("plane_product"))));
  EXPECT_THAT(fused(product, {image}, /*planes=*/false),
              Not(Contains(HasSubstr("plane_product"))));
}

// Few channels are a dim of taps.
TEST(Windows, OverAllChannels) {
  const Tensor weight = random_tensor({4, 3, 3, 3}, 7);
  const Tensor bias = random_tensor({4}, 8);
  const Tensor image = random_tensor({2, 3, 9, 17});
  for (int stride : {1, 2})
    EXPECT_THAT(
        fused(
            [&](Value x) {
              return F::relu(F::conv2d(x, weight, bias, stride, Value(1)));
            },
            {image}),
        ElementsAre("contraction: window+relu"));
}

TEST(Windows, OfManyChannels) {
  const Tensor weight = random_tensor({4, 16, 3, 3}, 7);
  const Tensor bias = random_tensor({4}, 8);
  const auto strided = [&](Value x) {
    return F::relu(F::conv2d(x, weight, bias, Value(2), Value(1)));
  };
  const ValueList inputs{random_tensor({2, 16, 9, 8})};
  EXPECT_THAT(fused(strided, inputs),
              Contains("contraction: window_product+add+relu"));
  EXPECT_THAT(fused(strided, inputs, /*planes=*/false),
              Not(Contains(HasSubstr("window_product"))));
}

// Each channel has two results, which lie side by side.
TEST(Windows, OfSeveralResultsOfAChannel) {
  const Tensor filters = random_tensor({16, 1, 7, 7}, 3);
  const Tensor bias = random_tensor({16}, 4);
  const auto doubled = [&](Value x) {
    return F::relu(
        F::conv2d(x, filters, bias, Value(2), Value(3), Value(1), Value(8)));
  };
  const Tensor last = random_tensor({2, 9, 17, 8})
                          .as_strided({2, 8, 9, 17}, {1224, 1, 136, 8}, 0);
  EXPECT_THAT(fused(doubled, {last}), ElementsAre("contraction: window+relu"));
}

// Taps along a row are one run of memory where nothing is padded.
TEST(Windows, OfRunsOfFewChannels) {
  const Tensor weight = random_tensor({4, 16, 2, 2}, 7);
  const Tensor bias = random_tensor({4}, 8);
  const Tensor last = random_tensor({2, 9, 17, 16})
                          .as_strided({2, 16, 9, 17}, {2448, 1, 272, 16}, 0);
  for (int stride : {1, 2})
    EXPECT_THAT(
        fused([&](Value x) { return F::conv2d(x, weight, bias, stride); },
              {last}),
        ElementsAre("contraction: window_product+add"));
  // Padding cuts the runs, and taps alone are too short.
  const Tensor few = random_tensor({4, 8, 2, 2}, 9);
  EXPECT_THAT(
      fused(
          [&](Value x) { return F::conv2d(x, few, bias, Value(1), Value(1)); },
          {random_tensor({2, 9, 17, 8})
               .as_strided({2, 8, 9, 17}, {1224, 1, 136, 8}, 0)}),
      Not(Contains(HasSubstr("window_product"))));
}

// High windows go down the columns of an image that is turned so.
TEST(Windows, OfManyRows) {
  const Tensor weight = random_tensor({4, 64, 18, 1}, 7);
  const Tensor image = random_tensor({1, 64, 20, 60});
  EXPECT_THAT(
      fused([&](Value x) { return F::conv2d(x, weight, Value()); }, {image}),
      ElementsAre("rows: materialize", "contraction: window_product",
                  "rows: materialize"));
}

}  // namespace TEST_FILE
}  // namespace fxjit
