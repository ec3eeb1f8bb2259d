// Transposed convolutions in compiled modules, against the graph in double
// precision: as convolutions whose results lie by turns, and where they stay
// the library's.
#include <optional>

#include "tests/compile/window_layers.h"

namespace fxjit {
namespace TEST_FILE {

using namespace testing_windows;

struct Layer {
  Dims stride, padding, output_padding, dilation;
  int64_t groups = 1;
  Tensor weight, bias, scale;
  int64_t kind = 0;

  Value of(const Value& x, DType type) const {
    const auto conv =
        stride.size() == 1 ? F::conv_transpose1d : F::conv_transpose2d;
    return finished(conv(x, weight.to(type), bias.to(type), stride, padding,
                         output_padding, groups, dilation),
                    scale.to(type), kind);
  }
};

Tensor computed(const Layer& layer, const Value& x, DType type,
                std::optional<CpuLevel> level, int threads) {
  const auto gm = fx::symbolic_trace([&](Value x) { return layer.of(x, type); },
                                     nn::Signature({nn::ArgSpec("x")}), "f");
  if (level) compile(*gm, testing::options_for(*level, threads));
  return gm->forward({x}).as_tensor();
}

void expect_layer_right(Layer layer, const Tensor& x, DType type = DType::f32) {
  for (Tensor* numbers : {&layer.weight, &layer.bias, &layer.scale})
    *numbers = rounded(*numbers, type);
  const Tensor wanted =
      computed(layer, rounded(x, type).to(DType::f64), DType::f64, {}, 1);
  const double tolerance = tolerance_of(type);
  for (CpuLevel level : testing::host_levels())
    for (int threads : {1, 2}) {
      SCOPED_TRACE(cpu_level_name(level));
      const Tensor got = computed(layer, x.to(type), type, level, threads);
      EXPECT_EQ(testing::value_difference(got.to(DType::f64), wanted,
                                          tolerance / 10, tolerance),
                "");
    }
}

// One dim of a layer for `size` places. Its result has places.
void add_dim(Layer& layer, int64_t size, int64_t taps, Draw& draw) {
  const int64_t stride = draw.of({1, 2, 2, 3}), dilation = draw.of({1, 1, 2});
  layer.stride.push_back(stride), layer.dilation.push_back(dilation);
  layer.output_padding.push_back(draw.of({0, 1}) % std::max(stride, dilation));
  const int64_t most = ((size - 1) * stride + (taps - 1) * dilation) / 2;
  layer.padding.push_back(std::min(draw.of({0, 1, 1, 2}), most));
}

void expect_random_right(uint32_t seed, DType type, bool special = false) {
  Draw draw(seed);
  const int spatial = static_cast<int>(draw.of({1, 2, 2}));
  Layer layer;
  layer.groups = draw.of({1, 1, 1, 2, 6});
  const int64_t channels = layer.groups * draw.of({1, 3, 8, 20});
  const int64_t features = draw.of({1, 2, 5, 16});
  Dims sizes{draw.of({1, 2}), channels}, weights{channels, features};
  for (int d = 0; d < spatial; ++d) {
    sizes.push_back(draw.of({1, 4, 9}));
    weights.push_back(draw.of({1, 2, 3, 4, 5}));
    add_dim(layer, sizes[2 + d], weights[2 + d], draw);
  }
  layer.weight = random_tensor(weights, DType::f32, 3);
  layer.bias = random_tensor({features * layer.groups}, DType::f32, 4);
  Dims each(spatial + 1, 1);
  each[0] = features * layer.groups;
  layer.scale = random_tensor(each, DType::f32, 5);
  layer.kind = draw.of({0, 1, 2});
  SCOPED_TRACE(::testing::Message()
               << seed << ": " << sizes.str() << " by " << weights.str()
               << " stride " << layer.stride.str() << " padding "
               << layer.padding.str() << ", " << layer.output_padding.str()
               << " dilation " << layer.dilation.str() << " groups "
               << layer.groups);
  const Tensor x = image(sizes, draw);
  if (special) set_special(x, draw);
  expect_layer_right(layer, x, type);
}

TEST(TransposedLayers, OfRandomSizes) {
  for (uint32_t seed = 0; seed < 60; ++seed)
    expect_random_right(seed, DType::f32);
}

// They reach the places that their taps reach, and no others.
TEST(TransposedLayers, OfSpecialNumbers) {
  for (uint32_t seed = 0; seed < 60; ++seed)
    expect_random_right(seed, DType::f32, true);
}

TEST(TransposedLayers, OfOtherTypes) {
  uint32_t seed = 0;
  for (DType type : {DType::f16, DType::bf16, DType::f64})
    for (int i = 0; i < 15; ++i) expect_random_right(seed++, type);
}

// Layers of nets of pictures, whose convolutions are tiles and Winograd's.
TEST(TransposedLayers, OfNets) {
  struct Sizes {
    int64_t channels, features, size, taps, stride, padding, output_padding;
    int64_t groups;
  };
  const Sizes nets[] = {
      {32, 16, 14, 2, 2, 0, 0, 1}, {32, 24, 9, 3, 2, 1, 1, 1},
      {48, 16, 8, 4, 2, 1, 0, 1},  {24, 3, 12, 4, 2, 1, 0, 1},
      {32, 32, 20, 3, 1, 1, 0, 1}, {24, 1, 13, 4, 2, 1, 0, 24},
      {40, 32, 1, 4, 1, 0, 0, 1},  {16, 8, 10, 5, 3, 2, 1, 1}};
  for (const Sizes& s : nets) {
    Draw draw(static_cast<uint32_t>(s.size));
    Layer layer;
    layer.stride = {s.stride, s.stride}, layer.dilation = {1, 1};
    layer.padding = {s.padding, s.padding};
    layer.output_padding = {s.output_padding, s.output_padding};
    layer.groups = s.groups, layer.kind = 1;
    layer.weight =
        random_tensor({s.channels, s.features, s.taps, s.taps}, DType::f32, 3);
    layer.bias = random_tensor({s.features * s.groups}, DType::f32, 4);
    layer.scale = random_tensor({s.features * s.groups, 1, 1}, DType::f32, 5);
    SCOPED_TRACE(::testing::Message()
                 << s.channels << " to " << s.features << ", " << s.taps
                 << " taps, stride " << s.stride);
    expect_layer_right(layer, image({1, s.channels, s.size, s.size}, draw));
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
