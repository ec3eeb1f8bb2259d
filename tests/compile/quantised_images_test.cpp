// Quantised nets of images in compiled modules: random blocks of convolutions,
// windows of one channel each, pooling and additions of two scales. All numbers
// between the steps have 8 bits, and are those of the interpreter, whose sums
// are whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

using ::testing::HasSubstr;
using ::testing::Not;

struct Quantisation {
  float scale;
  int zero;
  DType dtype;
};

class RandomNet {
 public:
  explicit RandomNet(uint32_t seed) : random_(seed) {}

  int below(uint32_t bound) { return static_cast<int>(random_() % bound); }
  DType type() { return below(3) == 0 ? DType::i8 : DType::u8; }

  Tensor numbers(DType dtype, const Dims& sizes) {
    Tensor t = Tensor::empty(sizes, dtype);
    for (int64_t i = 0; i < t.numel(); ++i)
      t.data_as<uint8_t>()[i] = static_cast<uint8_t>(random_());
    return t;
  }

  Quantisation quantisation(float scale) {
    const DType dtype = type();
    const int low = dtype == DType::u8 ? 0 : -128;
    return {scale * (0.6f + 0.01f * static_cast<float>(below(60))),
            low + below(256), dtype};
  }

  Value real(const Value& x, const Quantisation& by) {
    return function("fxjit.dequantize", {x, Tensor::full({}, by.scale),
                                         Tensor::full({}, by.zero, by.dtype)});
  }

  Value whole(const Value& x, const Quantisation& by) {
    const int low = by.dtype == DType::u8 ? 0 : -128;
    return function("fxjit.quantize", {x, Tensor::full({}, by.scale),
                                       Tensor::full({}, by.zero, by.dtype), low,
                                       low + 255, by.dtype});
  }

  // Sums of whole numbers times a scale by channel and a bias, as QDQ models
  // are rewritten.
  Value conv(const Value& x, const Quantisation& by, int64_t inputs,
             int64_t features, int64_t kernel, int64_t stride, int64_t groups) {
    const Tensor w =
        numbers(DType::i8, {features, inputs / groups, kernel, kernel});
    const Dims pad(2, kernel / 2), strides(2, stride);
    const Value sums =
        function("fxjit.integer_conv",
                 {x, w, strides, pad, pad, Dims{1, 1}, groups,
                  Tensor::full({}, by.zero, by.dtype), None, DType::f32});
    const double spread = 1.0 / (5000.0 * static_cast<double>(kernel));
    const Value scale =
        (testing::random_tensor({features, 1, 1}) + 3.0) * spread;
    return sums * scale + testing::random_tensor({features, 1, 1});
  }

 private:
  std::mt19937 random_;
};

// Numbers that `x` has: where it is both an operand and added, it is read by
// two steps.
Value net(RandomNet& r, Value x, Quantisation by, int64_t inputs) {
  const int64_t wide = 3 + r.below(38);
  const auto next = [&](const Value& real, float scale) {
    by = r.quantisation(scale);
    return r.whole(real, by);
  };
  const Value first =
      next(relu(r.conv(x, by, inputs, wide, 1 + 2 * r.below(2), 1, 1)), 0.02f);
  const Quantisation kept = by;
  const int64_t kernel = 3 + 2 * r.below(2);
  Value y = next(r.conv(first, by, wide, wide, kernel, 1, wide), 0.03f);
  y = next(r.real(r.whole(r.conv(y, by, wide, wide, 1, 1, 1), kept), kept) +
               r.real(first, kept),
           0.03f);
  if (r.below(2) == 0) {
    const Value pooled = function("torch.max_pool2d", {r.real(y, by), 3, 2, 1});
    y = r.below(2) == 0 ? r.whole(pooled, by) : next(pooled, 0.02f);
  }
  return next(r.conv(y, by, wide, wide, 3, 2, wide), 0.03f);
}

TEST(QuantisedImages, RandomNets) {
  for (uint32_t seed = 0; seed < 24; ++seed) {
    RandomNet r(seed);
    const int64_t channels = 1 + r.below(9);
    const Quantisation by = r.quantisation(0.02f);
    const Tensor x = r.numbers(
        by.dtype, {1 + r.below(2), channels, 7 + r.below(9), 9 + r.below(9)});
    const auto gm = fx::symbolic_trace(
        [&](Value x) { return net(r, x, by, channels); }, {"x"}, "f");
    const Value wanted = gm->interpret(ValueList{x});
    for (CpuLevel level : testing::host_levels())
      for (const bool fused : {true, false}) {
        CompileOptions options = testing::options_for(level, fused ? 1 : 2);
        if (!fused) options.disabled_passes = {"fuse"};
        compile(*gm, options);
        EXPECT_EQ(testing::value_difference(gm(x), wanted, 0, 0), "")
            << "seed " << seed;
        EXPECT_THAT(report(*gm), Not(HasSubstr("not native")));
      }
  }
}

// A convolution adds another's result behind its sums, and reads it as 8 bits.
TEST(QuantisedImages, AdditionsReadIntegers) {
  RandomNet r(5);
  const Quantisation by{0.02f, 121, DType::u8}, left{0.03f, 12, DType::u8},
      right{0.04f, 99, DType::u8};
  const Tensor x = r.numbers(DType::u8, {1, 16, 9, 9});
  const auto gm = fx::symbolic_trace(
      [&](Value x) {
        const Value a = r.whole(r.conv(x, by, 16, 32, 1, 1, 1), left);
        const Value b = r.whole(r.conv(x, by, 16, 32, 1, 1, 1), right);
        return r.whole(r.real(a, left) + r.real(b, right), by);
      },
      {"x"}, "f");
  const Value wanted = gm->interpret(ValueList{x});
  compile(*gm, testing::quick());
  EXPECT_EQ(testing::value_difference(gm(x), wanted, 0, 0), "");
  // The image is laid out, and each product is a step.
  int products = 0;
  for (const testing::StepView& step : testing::steps_for(*gm, ValueList{x})) {
    const bool is_product = step.label.starts_with("matmul");
    products += is_product;
    EXPECT_TRUE(is_product || step.label.find("add") == std::string::npos)
        << step.label;
    if (products == 1 && is_product)
      EXPECT_TRUE(step.label.ends_with("quantize")) << step.label;
  }
  EXPECT_EQ(products, 2);
}

}  // namespace TEST_FILE
}  // namespace fxjit
