// Depthwise convolutions and pooling in compiled modules, over planes and with
// channels innermost, against the graph in double precision.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

namespace F = nn::functional;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::random_tensor;

// Draws what layers look like.
class Draw {
 public:
  explicit Draw(uint32_t seed) : random_(seed) {}

  int64_t of(std::initializer_list<int64_t> numbers) {
    return numbers.begin()[random_() % numbers.size()];
  }
  Dims dims(int count, std::initializer_list<int64_t> numbers) {
    Dims result;
    for (int i = 0; i < count; ++i) result.push_back(of(numbers));
    return result;
  }
  bool half() { return of({0, 1}) == 1; }

 private:
  std::mt19937 random_;
};

// [N, C, ...], by turns with channels innermost, and then also a part of more.
Tensor image(const Dims& sizes, Draw& draw) {
  if (draw.half()) return random_tensor(sizes);
  const int64_t channels = sizes[1], pitch = channels + draw.of({0, 0, 5});
  Dims strides(sizes.size(), 1);
  int64_t step = pitch;
  for (int d = sizes.size() - 1; d >= 0; --d) {
    const int dim = d == 1 ? 0 : d == 0 ? 1 : d;
    if (dim == 1) continue;
    strides[dim] = step;
    step *= sizes[dim];
  }
  return random_tensor({step}).as_strided(sizes, strides, 0);
}

// No window is larger than the padded image.
int64_t pad_of(int64_t size, int64_t taps, int64_t dilation, Draw& draw) {
  const int64_t reach = (taps - 1) * dilation + 1, pad = draw.of({0, 1, 3});
  return size >= reach ? pad : std::max(pad, (reach + 1) / 2);
}

void set_special(const Tensor& x, Draw& draw) {
  const float numbers[] = {std::numeric_limits<float>::quiet_NaN(),
                           std::numeric_limits<float>::infinity(),
                           -std::numeric_limits<float>::infinity()};
  const Tensor flat = x.is_contiguous() ? x : x.as_strided({1}, {1}, 0);
  flat.data_as<float>()[flat.numel() / 2] =
      numbers[static_cast<size_t>(draw.of({0, 1, 2}))];
}

// `make(type)` is a function of an image, with its weights of this type. No
// call of it stays with a routine or the interpreter.
template <typename Make>
void expect_right(Make make, const Tensor& x) {
  const auto traced = [&](DType dtype) {
    return fx::symbolic_trace(make(dtype), nn::Signature({nn::ArgSpec("x")}),
                              "f");
  };
  const Value wanted = traced(DType::f64)->forward({x.to(DType::f64)});
  const auto gm = traced(DType::f32);
  for (CpuLevel level : testing::host_levels())
    for (int threads : {1, 2}) {
      SCOPED_TRACE(cpu_level_name(level));
      compile(*gm, testing::options_for(level, threads));
      const Tensor got = gm->forward({x}).as_tensor();
      EXPECT_EQ(
          testing::value_difference(got.to(DType::f64), wanted, 1e-5, 1e-4),
          "");
      EXPECT_THAT(report(*gm), Not(HasSubstr("not native")));
    }
}

// What is done to the sums.
Value finished(const Value& y, const Value& scale, int64_t kind) {
  switch (kind) {
    case 0:
      return y;
    case 1:
      return F::relu(y * scale);
    default:
      return F::silu(y + scale) + 0.5;
  }
}

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
  for (uint32_t seed = 0; seed < 40; ++seed) {
    Draw draw(seed);
    const int spatial = static_cast<int>(draw.of({1, 2, 2, 2, 3}));
    const int64_t channels = draw.of({2, 4, 4, 5, 8, 8, 12, 16});
    const int64_t groups = draw.of({2, 3, 4, 8});
    const int64_t features =
        draw.of({0, 0, 1}) == 1 ? draw.of({4, 8, 16}) : channels;
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

TEST(WindowLayers, Pooling) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    Draw draw(seed);
    Dims sizes{draw.of({1, 2}), draw.of({2, 3, 8, 13, 16, 24})}, pads;
    const Dims taps = draw.dims(2, {1, 2, 3, 3, 5});
    for (int d = 0; d < 2; ++d) {
      sizes.push_back(draw.of({5, 7, 12, 17}));
      pads.push_back(std::min<int64_t>(draw.of({0, 1, 2}), taps[d] / 2));
    }
    const Dims stride = draw.dims(2, {1, 2, 2, 3});
    const bool average = draw.half(), ceil = draw.half(), all = draw.half();
    const Tensor x = image(sizes, draw);
    if (!average && draw.half()) set_special(x, draw);
    SCOPED_TRACE(::testing::Message()
                 << seed << ": " << sizes.str() << " taps " << taps.str()
                 << " stride " << stride.str() << " pads " << pads.str()
                 << (average ? ", average" : "") << (ceil ? ", ceil" : ""));
    expect_right(
        [&](DType) {
          return [=](Value x) {
            const Value y =
                average ? F::avg_pool2d(x, taps, stride, pads, ceil, all)
                        : F::max_pool2d(x, taps, stride, pads, Value(1), ceil);
            return F::relu(y);
          };
        },
        x);
  }
}

struct PoolCase {
  const char* function;
  Dims input;
  ValueList args;  // Behind the input.
};

// Of one channel or column, of one image without its batch, of lines and
// volumes, of windows that are all of the image or have very many elements.
std::vector<PoolCase> pool_cases() {
  const char *const max = "F.max_pool2d", *const average = "F.avg_pool2d";
  return {
      {max, {2, 1, 14, 15}, {3, 2, 1}},
      {max, {2, 4, 14, 1}, {Dims{3, 1}, Dims{2, 1}}},
      {max, {1, 4, 21, 23}, {3, Dims{2, 1}, Dims{1, 2}, Dims{2, 3}}},
      {max, {4, 16, 16}, {2, 2, 0}},
      {max, {1, 4, 17, 18}, {Dims{17, 18}}},
      {max, {1, 9, 40, 41}, {Dims{16, 19}, Dims{2, 3}, Dims{8, 2}}},
      {max, {1, 3, 50, 51}, {16, 1, 4, Dims{1, 2}, true}},
      {max, {1, 3, 300, 9}, {Dims{300, 3}, 1, Dims{0, 1}}},
      {"F.max_pool1d", {2, 5, 100}, {4, 3, 2}},
      {"F.max_pool1d", {2, 5, 300}, {300}},
      {"F.max_pool1d", {2, 3, 900}, {240, 100, 20, 2}},
      {"F.avg_pool1d", {2, 3, 1000}, {230, 60, 100, true, false}},
      {"F.max_pool3d",
       {1, 3, 9, 8, 10},
       {Dims{3, 2, 3}, Dims{2, 2, 1}, Dims{1, 0, 1}}},
      {average, {1, 5, 14, 15}, {3, 2, 1, true, true}},
      {average, {1, 5, 14, 15}, {Dims{3, 2}, 2, 1, false, true, 7}},
      {average, {5, 14, 15}, {3, 2, 1}},
      {average, {1, 6, 20, 21}, {Dims{20, 21}}},
      {average, {1, 6, 40, 41}, {18, 3, 9, false, false}},
      {"F.avg_pool1d", {1, 5, 64}, {3, 2, 1}},
      {"F.avg_pool3d", {1, 2, 6, 7, 8}, {Dims{2, 3, 2}, 2, Dims{1, 1, 0}}},
  };
}

template <typename Fn>
void each_pool(Fn fn) {
  for (const PoolCase& c : pool_cases()) {
    SCOPED_TRACE(::testing::Message() << c.function << " " << c.input.str());
    const auto pooled = [c](Value x) {
      ValueList args{x};
      args.insert(args.end(), c.args.begin(), c.args.end());
      return function(c.function, args);
    };
    fn(pooled, c);
  }
}

TEST(WindowLayers, PoolingOfAllKinds) {
  Draw draw(1);
  each_pool([&](auto pooled, const PoolCase& c) {
    const Tensor x = random_tensor(c.input);
    if (c.function[2] == 'm' && draw.half()) set_special(x, draw);
    expect_right([&](DType) { return pooled; }, x);
  });
}

// Maxima are those of the type, averages are rounded to it once.
TEST(WindowLayers, PoolingOfNarrowTypes) {
  int number = 0;
  each_pool([&](auto pooled, const PoolCase& c) {
    if (number++ % 4 != 1) return;
    const bool max = c.function[2] == 'm';
    const Tensor x = random_tensor(c.input);
    for (DType dtype : {DType::bf16, DType::i8}) {
      if (dtype == DType::i8 && !max) continue;
      const Tensor narrow = (Value(x) * 50.0).as_tensor().to(dtype);
      const auto gm =
          fx::symbolic_trace(pooled, nn::Signature({nn::ArgSpec("x")}), "f");
      const Value wanted = gm->forward({narrow.to(DType::f64)});
      compile(*gm, testing::options_for(host_cpu_level(), 1));
      const Tensor got = gm->forward({narrow}).as_tensor();
      EXPECT_EQ(got.dtype(), dtype);
      EXPECT_EQ(testing::value_difference(got.to(DType::f64), wanted,
                                          max ? 0 : 4e-3, 1e-4),
                "");
      EXPECT_THAT(report(*gm), Not(HasSubstr("not native")));
    }
  });
}

}  // namespace TEST_FILE
}  // namespace fxjit
