// Eight threads at a time: the interpreter's kernels on mixed shapes, one
// compiled step shared by all, and the host's OpenMP setting left alone.
#include <gtest/gtest.h>
#include <omp.h>

#include <atomic>
#include <functional>
#include <thread>

#include "kernels/kernels.h"
#include "kernels/onednn/eager.h"
#include "kernels/shape_cache.h"
#include "src/ops/eager/matmul.h"
#include "src/ops/table/layouts.h"
#include "tests/kernels/conv_cases.h"
#include "tests/kernels/kernel_test_util.h"

namespace fxjit::kernels::testing {
namespace TEST_FILE {

constexpr int kThreads = 8;

void in_threads(const std::function<void(int)>& work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
}

ops::MatmulArgs args_of(const Tensor& a, const Tensor& b, const Tensor& c) {
  ops::MatmulArgs args;
  args.rows = a.size(1), args.depth = a.size(2), args.columns = b.size(2);
  args.a = a.data(), args.b = b.data(), args.c = c.data();
  args.a_row = args.depth, args.b_depth = args.columns;
  args.c_row = args.columns;
  return args;
}

TEST(Threads, ProductsOfMixedShapes) {
  struct Product {
    Tensor a, b;
    std::vector<double> expected;
  };
  std::vector<Product> products;
  for (int64_t i = 0; i < 12; ++i) {
    Product p{
        random_tensor({1, 20 + 17 * i, 64}), random_tensor({1, 64, 160}), {}};
    p.expected = product_oracle(p.a, p.b, Tensor());
    products.push_back(std::move(p));
  }
  std::atomic<int> wrong = 0;
  in_threads([&](int thread) {
    for (int round = 0; round < 40; ++round) {
      const Product& p =
          products[static_cast<size_t>(thread + round * 5) % products.size()];
      const Tensor c = Tensor::empty({1, p.a.size(1), 160});
      if (!onednn::eager_matmul(args_of(p.a, p.b, c)) ||
          relative_error(c, p.expected) > 1e-6)
        ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(Threads, ConvolutionsOfMixedShapes) {
  const ops::Op& op = ops::get_op("convolution");
  std::atomic<int> wrong = 0;
  in_threads([&](int thread) {
    for (int round = 0; round < 6; ++round) {
      const ConvCase& c = kConvCases[static_cast<size_t>(thread + round * 7) %
                                     std::size(kConvCases)];
      if (c.input.size() != c.weight.size()) continue;
      const Tensor x = random_tensor(c.input), w = random_tensor(c.weight);
      const ValueList args = bound_args("convolution", c.args(x, w, Value()));
      const ops::ConvParams params = ops::conv_params({op, args});
      const Tensor out = Tensor::empty(params.output);
      ops::run_conv(params, x, w, Tensor(), out);
      if (relative_error(out, conv_oracle(params, x, w, Tensor())) > 2e-6)
        ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(Threads, OneStepSharedByAll) {
  const Tensor w = random_tensor({48, 32, 3, 3});
  const ops::Op& op = ops::get_op("conv2d");
  const Tensor shape = Tensor::meta({1, 32, 20, 20}, DType::f32);
  const ValueList args = bound_args("conv2d", {shape, w, Value(), 1, 1});
  const Value result = ops::infer_plain({op, args});
  const auto kernel =
      make_call_code({op, args, {Tensor(), w}, {result}}, kSliceThreads);
  ASSERT_TRUE(kernel);
  const ops::ConvParams params = ops::conv_params({op, args});
  std::atomic<int> wrong = 0;
  in_threads([&](int thread) {
    const Tensor x = random_tensor({1, 32, 20, 20}, DType::f32,
                                   static_cast<unsigned>(thread));
    const auto expected = conv_oracle(params, x, w, Tensor());
    for (int round = 0; round < 30; ++round) {
      const Tensor out = Tensor::empty(params.output);
      if (run_kernel(*kernel, {x, w, out}) != program::kOk ||
          relative_error(out, expected) > 2e-6)
        ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(Threads, TheHostsOpenMpSettingIsPutBack) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(5);
  const Tensor a = random_tensor({1, 150, 64}), b = random_tensor({1, 64, 90});
  const Tensor c = Tensor::empty({1, 150, 90});
  EXPECT_TRUE(onednn::eager_matmul(args_of(a, b, c)));
  EXPECT_EQ(omp_get_max_threads(), 5);
  omp_set_num_threads(before);
}

TEST(ShapeCache, DropsTheLeastRecentlyUsed) {
  ShapeCache<int> cache(2);
  cache.add({1}, std::make_shared<int>(1));
  cache.add({2}, nullptr);
  std::shared_ptr<const int> entry;
  ASSERT_TRUE(cache.find({1}, &entry));
  EXPECT_EQ(*entry, 1);
  cache.add({3}, std::make_shared<int>(3));
  EXPECT_EQ(cache.size(), 2u);
  EXPECT_FALSE(cache.find({2}, &entry));
  EXPECT_TRUE(cache.find({1}, &entry));
  EXPECT_TRUE(cache.find({3}, &entry));
  cache.add({3}, nullptr);
  EXPECT_TRUE(cache.find({3}, &entry));
  EXPECT_FALSE(entry);
}

}  // namespace TEST_FILE
}  // namespace fxjit::kernels::testing
