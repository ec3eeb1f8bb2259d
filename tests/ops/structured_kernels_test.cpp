// The plain product, convolution and pooling at sizes beyond their blocks, and
// the hooks through which faster kernels replace them.
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "fxjit/functions.h"
#include "src/ops/eager/backend.h"
#include "src/ops/eager/convolution.h"
#include "src/ops/eager/matmul.h"

namespace fxjit {
namespace TEST_FILE {

Tensor random(const Dims& sizes, int seed) {
  std::mt19937 generator(static_cast<unsigned>(seed));
  std::uniform_real_distribution<float> uniform(-1, 1);
  const Tensor tensor = Tensor::empty(sizes);
  for (int64_t i = 0; i < tensor.numel(); ++i)
    tensor.data_as<float>()[i] = uniform(generator);
  return tensor;
}

// Row by row in double.
void expect_product(const Tensor& a, const Tensor& b, const Tensor& got) {
  const int64_t depth = a.size(1);
  for (int64_t m = 0; m < a.size(0); ++m)
    for (int64_t n = 0; n < b.size(1); ++n) {
      double sum = 0;
      for (int64_t k = 0; k < depth; ++k) sum += a.at({m, k}) * b.at({k, n});
      ASSERT_NEAR(got.at({m, n}), sum, 1e-5 * static_cast<double>(depth))
          << m << ", " << n;
    }
}

TEST(PlainMatmul, EqualsDoublePrecisionBeyondItsBlocks) {
  for (const Dims& size : {Dims{1, 1, 1}, Dims{5, 9, 13}, Dims{4, 600, 8},
                           Dims{17, 1025, 19}, Dims{3, 0, 2}}) {
    const Tensor a = random({size[0], size[1]}, 1);
    const Tensor b = random({size[1], size[2]}, 2);
    expect_product(a, b, matmul(a, b).as_tensor());
  }
}

TEST(PlainMatmul, ReadsAnyStrides) {
  const Tensor a = transpose(random({33, 21}, 1), 0, 1).as_tensor();
  const Tensor b = flip(random({40, 33}, 2), {0}).as_tensor();
  const Tensor strided =
      b.as_strided({33, 20}, {1, 66}, 0);  // Every second row, transposed.
  expect_product(a, strided, matmul(a, strided).as_tensor());
}

TEST(PlainMatmul, WrapsIntegers) {
  const Tensor a = Tensor::full({2, 3}, 100, DType::i8);
  const Tensor product = matmul(a, transpose(a, 0, 1)).as_tensor();
  EXPECT_EQ(product.dtype(), DType::i8);
  EXPECT_EQ(product.item_size(), 1u);
  EXPECT_EQ(product.at({0, 0}), static_cast<int8_t>(30000 & 0xff));
}

int matmul_calls = 0;

bool counting_matmul(const ops::MatmulArgs& args) {
  ++matmul_calls;
  if (args.dtype != DType::f32) return false;
  float* c = static_cast<float*>(args.c);
  for (int64_t i = 0; i < args.rows * args.columns; ++i) c[i] = 42;
  return true;
}

// Ends with the backend that was there before.
class CountingBackend {
 public:
  CountingBackend() { matmul_calls = 0; }
  ~CountingBackend() { ops::set_matmul_backend(former_); }
  CountingBackend(const CountingBackend&) = delete;
  CountingBackend& operator=(const CountingBackend&) = delete;

 private:
  const ops::MatmulBackend former_ = ops::set_matmul_backend(counting_matmul);
};

TEST(Backend, ReplacesThePlainMatmulUntilRemoved) {
  const Tensor a = Tensor::full({2, 2}, 1);
  {
    const CountingBackend counting;
    EXPECT_EQ(matmul(a, a).as_tensor().at({1, 1}), 42);
    // A kernel that declines leaves the work to the plain loop.
    EXPECT_EQ(matmul(a.to(DType::f64), a.to(DType::f64)).as_tensor().at({0, 1}),
              2);
    EXPECT_EQ(matmul_calls, 2);
  }
  EXPECT_EQ(matmul(a, a).as_tensor().at({1, 1}), 2);
  EXPECT_EQ(matmul_calls, 2);
}

TEST(Backend, ConvolutionsAreItsProducts) {
  const Tensor x = Tensor::full({1, 1, 4, 4}, 1);
  const Tensor w = Tensor::full({1, 1, 2, 2}, 1);
  const auto conv = [&] {
    return nn::functional::conv2d(x, w, None, {2, 1}).as_tensor();
  };
  {
    const CountingBackend counting;
    EXPECT_EQ(conv().at({0, 0, 0, 0}), 42);
    EXPECT_EQ(matmul_calls, 1);
  }
  EXPECT_EQ(conv().at({0, 0, 0, 0}), 4);
}

bool seven(const ops::OpCall& call, Value* result) {
  if (call.tensor(0).dtype() != DType::f32) return false;
  *result = Tensor::full(ops::infer(call).as_tensor().sizes(), 7);
  return true;
}

TEST(Backend, ComputesWindowsUnlessPlainOnesAreAskedFor) {
  const Tensor x = Tensor::full({1, 1, 4, 4}, 1);
  const Tensor w = Tensor::full({1, 1, 2, 2}, 1);
  const auto conv = [&](DType dtype) {
    return nn::functional::conv2d(x.to(dtype), w.to(dtype))
        .as_tensor()
        .at({0, 0, 0, 0});
  };
  const auto pool = [&] {
    return nn::functional::max_pool2d(x, 2).as_tensor().at({0, 0, 1, 1});
  };
  const ops::WindowBackend former = ops::set_window_backend(seven);
  EXPECT_EQ(conv(DType::f32), 7);
  EXPECT_EQ(pool(), 7);
  EXPECT_EQ(conv(DType::f64), 4);
  {
    const ops::PlainWindows plain;
    EXPECT_EQ(conv(DType::f32), 4);
    EXPECT_EQ(pool(), 1);
  }
  EXPECT_EQ(pool(), 7);
  ops::set_window_backend(former);
  EXPECT_EQ(pool(), 1);
}

TEST(PlainConv, EqualsDirectSumsInDouble) {
  const Tensor x = random({2, 4, 9, 11}, 1), w = random({6, 2, 3, 2}, 2);
  const Tensor out =
      nn::functional::conv2d(x, w, None, {2, 1}, {1, 2}, {1, 3}, 2).as_tensor();
  for (int64_t c = 0; c < 6; ++c)
    for (int64_t i = 0; i < out.size(2); ++i)
      for (int64_t j = 0; j < out.size(3); ++j) {
        double sum = 0;
        for (int64_t k = 0; k < 2; ++k)
          for (int64_t a = 0; a < 3; ++a)
            for (int64_t b = 0; b < 2; ++b) {
              const int64_t y = i * 2 + a - 1, z = j + b * 3 - 2;
              if (y < 0 || y >= 9 || z < 0 || z >= 11) continue;
              sum += x.at({1, c / 3 * 2 + k, y, z}) * w.at({c, k, a, b});
            }
        ASSERT_NEAR(out.at({1, c, i, j}), sum, 1e-5);
      }
}

TEST(Sharing, ViewsShareStorageAndCopiesDoNot) {
  const Tensor x = random({2, 3, 4}, 1);
  for (const Value& view :
       {reshape(x, {6, 4}), transpose(x, 0, 2), getitem(x, 1),
        getitem(x, Ellipsis), split(x, 1).at(1), flatten(x, 1)})
    EXPECT_EQ(view.as_tensor().storage(), x.storage());
  for (const Value& copy :
       {reshape(transpose(x, 0, 2), {24}), cat({x, x}), repeat(x, {1, 1, 1}),
        flip(x, {0}), nn::functional::pad(x, {0, 0}),
        getitem(x, Value::list({0}))})
    EXPECT_NE(copy.as_tensor().storage(), x.storage());
}

TEST(BadSizes, AreRefusedBeforeAnyArithmetic) {
  const int64_t huge = std::numeric_limits<int64_t>::max();
  const Tensor x = Tensor::full({1, 1, 4, 4}, 1);
  EXPECT_THROW(nn::functional::conv2d(x, x, None, 1, huge), RuntimeError);
  EXPECT_THROW(nn::functional::conv2d(x, x, None, huge), RuntimeError);
  EXPECT_THROW(nn::functional::max_pool2d(x, huge), RuntimeError);
  EXPECT_THROW(nn::functional::pad(x, {huge, huge}), RuntimeError);
  EXPECT_THROW(nn::functional::interpolate(x, None, 1e300), RuntimeError);
  EXPECT_THROW(arange(0, 1e300), RuntimeError);
  EXPECT_THROW(zeros({huge, huge}), UserError);
  EXPECT_THROW(repeat(x, {huge, huge, 1, 1}), UserError);
  EXPECT_THROW(as_strided(x, {4}, {huge}), Error);
  EXPECT_THROW(as_strided(Tensor::meta({4}, DType::f32), {3}, {2}), Error);
  EXPECT_EQ(getitem(x, Value::slice(0, huge, huge)).as_tensor().numel(), 16);
}

TEST(BadFactors, OfIntegersFit64Bits) {
  const Value x = Tensor::full({2, 2}, 1, DType::i64);
  const auto scaled = [&](const Value& alpha) {
    return function("torch.addmm", {x, x, x}, {{"alpha", alpha}});
  };
  EXPECT_EQ(select(select(scaled(-0x1p61), 0, 0), 0, 0).as_tensor().to_floats()[0],
            1 - 0x1p62);
  for (const double factor : {0x1p63, -0x1p64, 1e300,
                              std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::quiet_NaN()})
    EXPECT_THROW(scaled(factor), RuntimeError) << factor;
}

}  // namespace TEST_FILE
}  // namespace fxjit
