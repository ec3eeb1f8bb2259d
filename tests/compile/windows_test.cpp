// Convolutions in compiled modules that are windows, over planes and with
// channels innermost, against the graph in double precision.
#include <cmath>

#include "tests/compile/window_layers.h"

namespace fxjit {
namespace TEST_FILE {

using namespace testing_windows;

TEST(WindowLayers, DepthwiseConvolutions) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    Draw draw(seed);
    const int spatial = static_cast<int>(draw.of({2, 2, 2, 3}));
    const int64_t channels = draw.of({2, 3, 6, 8, 13, 16, 24, 37});
    // Fewer results than the widest vector has lanes are not native.
    int64_t results = channels * draw.of({1, 1, 2, 4});
    if (results < 16) results = channels;
    Dims sizes{draw.of({1, 2}), channels}, weights{results, 1}, pads;
    const Dims stride = draw.dims(spatial, {1, 1, 2, 3});
    const Dims dilation = draw.dims(spatial, {1, 1, 2});
    for (int d = 0; d < spatial; ++d) {
      sizes.push_back(draw.of({1, 4, 7, 12, 17}));
      weights.push_back(draw.of({1, 2, 3, 3, 5, 7}));
      pads.push_back(pad_of(sizes[2 + d], weights[2 + d], dilation[d], draw));
    }
    const Tensor x = image(sizes, draw);
    const Tensor weight = random_tensor(weights, DType::f32, 3);
    const Tensor bias = random_tensor({results}, DType::f32, 4);
    Dims each(spatial + 1, 1);
    each[0] = results;
    const Tensor scale = random_tensor(each, DType::f32, 5);
    // Not among the weights: padding meets none here, but zeros in the
    // reference.
    if (draw.of({0, 0, 1}) == 1) set_special(x, draw);
    const int64_t kind = draw.of({0, 1, 2});
    SCOPED_TRACE(::testing::Message()
                 << seed << ": " << sizes.str() << " by " << weights.str()
                 << " stride " << stride.str() << " dilation " << dilation.str()
                 << " pads " << pads.str());
    expect_right(
        [&](DType type) {
          return [=](Value x) {
            const auto conv = spatial == 2 ? F::conv2d : F::conv3d;
            return finished(conv(x, weight.to(type), bias.to(type), stride,
                                 pads, dilation, channels),
                            scale.to(type), kind);
          };
        },
        x);
  }
}

Value convolution(const Value& x, const Value& weight, const Value& bias,
                  const Dims& stride, const Dims& pads, const Dims& dilation,
                  int64_t groups = 1) {
  const auto conv = stride.size() == 1   ? F::conv1d
                    : stride.size() == 2 ? F::conv2d
                                         : F::conv3d;
  return conv(x, weight, bias, stride, pads, dilation, groups);
}

Tensor scaled_by_depth(const Tensor& weight) {
  const auto depth = static_cast<double>(weight.numel() / weight.size(0));
  auto* const numbers = weight.data_as<float>();
  for (int64_t i = 0; i < weight.numel(); ++i)
    numbers[i] /= static_cast<float>(std::sqrt(depth));
  return weight;
}

// Dense ones, by products over windows, planes and otherwise.
TEST(WindowLayers, DenseConvolutions) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    Draw draw(seed);
    const int spatial = static_cast<int>(draw.of({1, 2, 2, 2, 3}));
    const int64_t channels = draw.of({1, 3, 16, 16, 17, 24, 64});
    const int64_t features = draw.of({1, 3, 8, 16, 20, 33, 100});
    Dims sizes{draw.of({1, 2}), channels}, weights{features, channels}, pads;
    const Dims stride = draw.dims(spatial, {1, 1, 2, 3});
    const Dims dilation = draw.dims(spatial, {1, 1, 2});
    for (int d = 0; d < spatial; ++d) {
      sizes.push_back(draw.of({1, 4, 7, 12, 17}));
      weights.push_back(draw.of({1, 2, 3, 3, 5}));
      pads.push_back(pad_of(sizes[2 + d], weights[2 + d], dilation[d], draw));
    }
    const Tensor x = image(sizes, draw);
    // Such that sums of thousands of products are as large as those of few.
    const Tensor weight =
        scaled_by_depth(random_tensor(weights, DType::f32, 3));
    const Tensor bias = random_tensor({features}, DType::f32, 4);
    Dims each(spatial + 1, 1);
    each[0] = features;
    const Tensor scale = random_tensor(each, DType::f32, 5);
    // Winograd's transforms spread what is not finite over their tiles.
    if (stride[0] > 1) set_special(x, draw);
    const int64_t kind = draw.of({0, 1, 2});
    SCOPED_TRACE(::testing::Message()
                 << seed << ": " << sizes.str() << " by " << weights.str()
                 << " stride " << stride.str() << " dilation " << dilation.str()
                 << " pads " << pads.str());
    expect_right(
        [&](DType type) {
          return [=](Value x) {
            return finished(convolution(x, weight.to(type), bias.to(type),
                                        stride, pads, dilation),
                            scale.to(type), kind);
          };
        },
        x);
  }
}

// In groups of few channels, of as many results or others.
TEST(WindowLayers, ConvolutionsInGroups) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    Draw draw(seed);
    const int spatial = static_cast<int>(draw.of({1, 2, 2, 2, 3}));
    const int64_t channels = draw.of({2, 3, 3, 4, 5, 6, 7, 8, 12, 16});
    const int64_t groups = draw.of({2, 3, 4, 8, 15});
    const int64_t features =
        draw.of({0, 0, 1}) == 1 ? draw.of({1, 2, 3, 4, 8, 9, 16}) : channels;
    Dims sizes{draw.of({1, 2}), channels * groups};
    Dims weights{features * groups, channels}, pads;
    const Dims stride = draw.dims(spatial, {1, 1, 2, 3});
    const Dims dilation = draw.dims(spatial, {1, 1, 2});
    for (int d = 0; d < spatial; ++d) {
      sizes.push_back(draw.of({1, 4, 7, 12, 17}));
      weights.push_back(draw.of({1, 2, 3, 3, 5}));
      pads.push_back(pad_of(sizes[2 + d], weights[2 + d], dilation[d], draw));
    }
    const Tensor x = image(sizes, draw);
    const Tensor weight =
        scaled_by_depth(random_tensor(weights, DType::f32, 3));
    const Tensor bias = random_tensor({features * groups}, DType::f32, 4);
    Dims each(spatial + 1, 1);
    each[0] = features * groups;
    const Tensor scale = random_tensor(each, DType::f32, 5);
    if (draw.half()) set_special(x, draw);
    const int64_t kind = draw.of({0, 1, 2});
    SCOPED_TRACE(::testing::Message()
                 << seed << ": " << sizes.str() << " by " << weights.str()
                 << " stride " << stride.str() << " dilation " << dilation.str()
                 << " pads " << pads.str());
    expect_right(
        [&](DType type) {
          return [=](Value x) {
            return finished(convolution(x, weight.to(type), bias.to(type),
                                        stride, pads, dilation, groups),
                            scale.to(type), kind);
          };
        },
        x);
  }
}

// Of types that are computed as f32 or have loops of their own; in groups of
// one channel and of several, of as many results or twice as many.
TEST(WindowLayers, OfOtherTypes) {
  for (DType type : {DType::f16, DType::bf16, DType::f64})
    for (uint32_t seed = 0; seed < 8; ++seed) {
      Draw draw(seed);
      const int64_t groups = draw.of({1, 3, 16}), channels = draw.of({1, 4, 8});
      const int64_t features = channels * draw.of({1, 2});
      const Dims sizes{draw.of({1, 2}), channels * groups, draw.of({4, 9, 17}),
                       draw.of({7, 12, 17})};
      const Dims stride = draw.dims(2, {1, 1, 2}), pads = draw.dims(2, {1, 2});
      const Tensor x = rounded(image(sizes, draw), type);
      const auto made = [&](const Dims& sizes, uint32_t seed) {
        return rounded(random_tensor(sizes, DType::f32, seed), type);
      };
      const Tensor weight = made({features * groups, channels, 3, 3}, 3);
      const Tensor bias = made({features * groups}, 4);
      if (draw.half()) set_special(x, draw);
      SCOPED_TRACE(::testing::Message()
                   << seed << ": " << sizes.str() << " by "
                   << weight.sizes().str() << " stride " << stride.str());
      expect_right_of(
          type,
          [&](DType type) {
            return [=](Value x) {
              return F::relu(convolution(x, weight.to(type), bias.to(type),
                                         stride, pads, {1, 1}, groups));
            };
          },
          x);
    }
}

// Windows so high that places are taken column by column.
TEST(WindowLayers, HighWindows) {
  Draw draw(1);
  for (int64_t pad : {0, 3}) {
    const Tensor x = image({2, 64, 40, 60}, draw);
    const Tensor weight =
        scaled_by_depth(random_tensor({17, 64, 18, 2}, DType::f32, 3));
    const Tensor bias = random_tensor({17}, DType::f32, 4);
    expect_right(
        [&](DType type) {
          return [=](Value x) {
            return F::relu(convolution(x, weight.to(type), bias.to(type),
                                       {2, 3}, {pad, 1}, {1, 1}));
          };
        },
        x);
  }
}

// Windows of one element, with a residual beside the sums.
TEST(WindowLayers, ProductsOverPlanes) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    Draw draw(seed);
    const int spatial = static_cast<int>(draw.of({1, 2, 2, 3}));
    const int64_t channels = draw.of({1, 3, 16, 40, 100});
    const int64_t features = draw.of({1, 5, 6, 13, 64, 100});
    Dims sizes{draw.of({1, 3}), channels}, weights{features, channels};
    for (int d = 0; d < spatial; ++d) {
      sizes.push_back(spatial == 1   ? draw.of({192, 333, 1000})
                      : spatial == 2 ? draw.of({14, 17, 28})
                                     : draw.of({6, 7}));
      weights.push_back(1);
    }
    const Tensor x = image(sizes, draw);
    const Tensor weight = random_tensor(weights, DType::f32, 3);
    const Tensor bias = random_tensor({features}, DType::f32, 4);
    Dims result = sizes, each(spatial + 1, 1);
    result[1] = each[0] = features;
    const Tensor scale = random_tensor(each, DType::f32, 5);
    const Tensor beside = image(result, draw);
    if (draw.half()) set_special(x, draw);
    const int64_t kind = draw.of({0, 1, 2});
    SCOPED_TRACE(::testing::Message()
                 << seed << ": " << sizes.str() << " by " << weights.str());
    expect_right(
        [&](DType type) {
          return [=](Value x) {
            const Dims ones(spatial, 1), none(spatial, 0);
            const Value sums = convolution(x, weight.to(type), bias.to(type),
                                           ones, none, ones);
            return finished(sums + beside.to(type), scale.to(type), kind);
          };
        },
        x);
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
