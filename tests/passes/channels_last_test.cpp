// Convolutions give channels last, and what follows keeps that order: which
// regions come out, and that every result is the captured graph's.

#include "src/passes/channels_last.h"
#include "tests/passes/pass_matchers.h"

namespace fxjit {
namespace TEST_FILE {

using passes::is_channels_last;

template <typename Fn>
std::vector<std::string> fused(Fn f, ValueList inputs) {
  const Passed passed = run_passes(f, std::move(inputs));
  EXPECT_EQ(wrong_result(passed), "");
  return regions(passed.model);
}

const Tensor kPoint = random_tensor({9, 3, 1, 1}, 1);
const Tensor kBack = random_tensor({3, 9, 1, 1}, 2);
const Tensor kWindow = random_tensor({9, 3, 3, 3}, 3);
const Tensor kBias = random_tensor({9}, 4);

TEST(IsChannelsLast, ByStrides) {
  const auto meta = [](Dims sizes, Dims strides) {
    return Tensor::meta(sizes, DType::f32, strides);
  };
  EXPECT_TRUE(is_channels_last(meta({2, 3, 4, 5}, {60, 1, 15, 3})));
  EXPECT_TRUE(is_channels_last(meta({2, 3, 7}, {21, 1, 3})));
  // A part of the channels.
  EXPECT_TRUE(is_channels_last(meta({2, 3, 4, 5}, {160, 1, 40, 8})));
  EXPECT_FALSE(is_channels_last(meta({2, 3, 4, 5}, {60, 20, 5, 1})));
  // Both orders, or neither.
  EXPECT_FALSE(is_channels_last(meta({2, 3, 1, 1}, {3, 1, 3, 3})));
  EXPECT_FALSE(is_channels_last(meta({2, 1, 4, 5}, {20, 1, 5, 1})));
  EXPECT_FALSE(is_channels_last(meta({2, 3, 4, 5}, {60, 1, 3, 12})));
  EXPECT_FALSE(is_channels_last(meta({2, 3, 4, 5}, {0, 1, 0, 0})));
  EXPECT_FALSE(is_channels_last(meta({2, 3}, {1, 2})));
}

TEST(ChannelsLast, OneByOneConvolutionsAreProducts) {
  EXPECT_THAT(fused(
                  [](Value x) {
                    const Value y = F::relu(F::conv2d(x, kPoint, kBias));
                    return F::conv2d(y, kBack) + x;
                  },
                  {random_tensor({2, 3, 5, 4})}),
              ElementsAre("rows: materialize", "contraction: contract+add+relu",
                          "contraction: contract+add", "rows: materialize"));
}

TEST(ChannelsLast, StridedOneByOneReadsEveryOtherPlace) {
  for (int64_t stride : {2, 3}) {
    EXPECT_THAT(
        fused(
            [&](Value x) { return F::conv2d(x, kPoint, kBias, Value(stride)); },
            {random_tensor({2, 3, 5, 4})}),
        ElementsAre("rows: materialize", "contraction: contract+add",
                    "rows: materialize"));
  }
}

TEST(ChannelsLast, PaddedOneByOneIsAConvolution) {
  EXPECT_THAT(fused(
                  [](Value x) {
                    return F::conv2d(x, kPoint, kBias, Value(1), Value(1));
                  },
                  {random_tensor({2, 3, 5, 4})}),
              ElementsAre("call: conv_last", "rows: materialize"));
}

TEST(ChannelsLast, ElementwiseWorkJoinsTheProduct) {
  const Tensor scale = random_tensor({9, 1, 1}, 5);
  EXPECT_THAT(fused(
                  [&](Value x) {
                    const Value y = F::conv2d(x, kWindow, kBias);
                    return F::conv2d(y, kBack) * 0.5;
                  },
                  {random_tensor({2, 3, 5, 4})}),
              ElementsAre("call: conv_last", "contraction: contract+mul",
                          "rows: materialize"));
  EXPECT_THAT(fused(
                  [&](Value x) {
                    return F::conv2d(F::silu(F::conv2d(x, kPoint) * scale),
                                     kBack);
                  },
                  {random_tensor({2, 3, 5, 4})}),
              ElementsAre("rows: materialize", "contraction: contract+mul+silu",
                          "contraction: contract", "rows: materialize"));
}

TEST(ChannelsLast, ReductionsOverPlacesAndChannels) {
  const auto reduce = [&](Dims dims, bool keep) {
    return fused(
        [&](Value x) {
          const Value y = F::conv2d(x, kWindow, kBias);
          return call_function(ops::get_op("sum").canonical, {y, dims, keep});
        },
        {random_tensor({2, 3, 5, 4})});
  };
  for (bool keep : {false, true}) {
    for (const Dims& dims :
         {Dims{2, 3}, Dims{-1, -2}, Dims{1}, Dims{0}, Dims{0, 2, 3}, Dims{1, 3},
          Dims{2}, Dims{0, 1, 2, 3}})
      reduce(dims, keep);
    EXPECT_THAT(reduce({2, 3}, keep), Contains("columns: sum"));
    EXPECT_THAT(reduce({1}, keep), Contains("rows: sum"));
  }
}

TEST(ChannelsLast, CatAndPadKeepTheOrder) {
  const auto stays = [](auto f) {
    const auto found = fused(f, {random_tensor({2, 3, 5, 4})});
    // One copy for the caller, none between.
    EXPECT_EQ(std::count(found.begin(), found.end(), "rows: materialize"), 1);
  };
  for (int64_t dim : {0, 1, 2, -1})
    stays([&](Value x) {
      const Value y = F::conv2d(x, kWindow, kBias);
      return F::relu(cat(Value::list({y, F::silu(y)}), dim));
    });
  stays([](Value x) {
    const Value y = F::conv2d(x, kWindow, kBias);
    return F::relu(F::pad(y, Value(Dims{1, 2, 0, 1})));
  });
}

TEST(ChannelsLast, ViewsOfChannels) {
  const auto channels = [](Value x, int64_t first) {
    return narrow(F::conv2d(x, kWindow, kBias), 1, first, 4);
  };
  fused([&](Value x) { return channels(x, 0) * sigmoid(channels(x, 4)); },
        {random_tensor({2, 3, 5, 4})});
}

TEST(ChannelsLast, PositionsCountLogicalDims) {
  fused([](Value x) { return tril(F::conv2d(x, kWindow, kBias)); },
        {random_tensor({2, 3, 5, 6})});
}

TEST(ChannelsLast, UnbatchedInput) {
  fused([](Value x) { return F::relu(F::conv2d(x, kPoint, kBias)); },
        {random_tensor({3, 5, 4})});
}

TEST(ChannelsLast, ViewsOfTheResultAreTheUsers) {
  fused(
      [](Value x) {
        const Value y = F::conv2d(x, kWindow, kBias);
        return call_function(ops::get_op("view").canonical, {y, Dims{2, -1}});
      },
      {random_tensor({2, 3, 5, 4})});
  fused(
      [](Value x) {
        const Value y = F::conv2d(x, kWindow, kBias);
        return call_function(ops::get_op("as_strided").canonical,
                             {y, Dims{4, 3}, Dims{3, 1}, 2});
      },
      {random_tensor({2, 3, 5, 4})});
}

TEST(ChannelsLast, DepthwiseLines) {
  const Tensor weight = random_tensor({6, 1, 3}, 6);
  const Tensor bias = random_tensor({6}, 7);
  for (bool transposed : {false, true})
    fused(
        [&](Value x) {
          const Value line = transposed ? transpose(x, 1, 2) : x;
          return F::conv1d(line, weight, bias, Value(1), Value(1), Value(1),
                           Value(6));
        },
        {random_tensor(transposed ? Dims{2, 7, 6} : Dims{2, 6, 7})});
}

// Resizing reads channels where they are; nothing is turned.
TEST(ChannelsLast, UpsamplingKeepsTheOrder) {
  const auto resized = [](Value factor, std::string mode) {
    return [=](Value x) {
      const Value y = F::conv2d(x, kWindow, kBias);
      return F::conv2d(F::interpolate(y, None, factor, mode), kBack);
    };
  };
  const ValueList input = {random_tensor({2, 3, 7, 8})};
  EXPECT_THAT(fused(resized(2.0, "nearest"), input),
              ElementsAre("call: conv_last", "contraction: resample",
                          "contraction: contract", "rows: materialize"));
  EXPECT_EQ(fused(resized(1.5, "nearest"), input),
            fused(resized(2.0, "nearest"), input));
  fused(resized(Value::tuple({3.0, 0.5}), "nearest-exact"), input);
  fused(resized(2.0, "bilinear"), input);
}

}  // namespace TEST_FILE
}  // namespace fxjit
