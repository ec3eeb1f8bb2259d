// Pooling of the interpreter and of compiled programs.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/kernels.h"
#include "kernels/pooling/pooling.h"
#include "src/ops/table/layouts.h"
#include "tests/kernels/kernel_test_util.h"

namespace fxjit::kernels::testing {
namespace TEST_FILE {

struct PoolCase {
  const char* name;
  const char* op;
  Dims input;
  Dims kernel, stride, padding;
  Dims dilation = {};
  bool ceil_mode = false;
  bool count_include_pad = true;
  int64_t divisor = 0;

  ValueList args(const Value& x) const {
    ValueList args = {x, kernel, stride, padding};
    if (std::string_view(op).starts_with("max")) {
      args.push_back(dilation.empty() ? Dims(kernel.size(), 1) : dilation);
      args.push_back(ceil_mode);
    } else {
      args.push_back(ceil_mode);
      args.push_back(count_include_pad);
      if (divisor) args.push_back(divisor);
    }
    return bound_args(op, args);
  }
};

const PoolCase kCases[] = {
    {"resnet", "max_pool2d", {2, 16, 112, 112}, {3, 3}, {2, 2}, {1, 1}},
    {"halves", "max_pool2d", {1, 33, 30, 31}, {2, 2}, {2, 2}, {0, 0}},
    {"ten", "max_pool2d", {1, 10, 30, 31}, {2, 2}, {2, 2}, {0, 0}, {}, true},
    {"overlap", "max_pool2d", {1, 3, 13, 17}, {5, 3}, {1, 1}, {2, 1}},
    {"thirds", "max_pool2d", {1, 3, 20, 20}, {3, 2}, {3, 3}, {0, 1}},
    {"dilated", "max_pool2d", {1, 4, 21, 23}, {3, 3}, {2, 1}, {1, 2}, {2, 3}},
    {"ceil", "max_pool2d", {1, 4, 14, 15}, {3, 3}, {2, 2}, {0, 0}, {}, true},
    {"ceil_padded",
     "max_pool2d",
     {1, 4, 10, 11},
     {3, 3},
     {3, 3},
     {1, 1},
     {},
     true},
    {"unbatched", "max_pool2d", {4, 16, 16}, {2, 2}, {2, 2}, {0, 0}},
    {"line", "max_pool1d", {2, 5, 100}, {4}, {3}, {2}},
    {"volume", "max_pool3d", {1, 3, 9, 8, 10}, {3, 2, 3}, {2, 2, 1}, {1, 0, 1}},
    {"average", "avg_pool2d", {2, 16, 28, 30}, {3, 3}, {2, 2}, {1, 1}},
    {"average_inside",
     "avg_pool2d",
     {1, 5, 15, 17},
     {3, 3},
     {1, 1},
     {1, 1},
     {},
     false,
     false},
    {"average_ceil",
     "avg_pool2d",
     {1, 5, 14, 15},
     {3, 3},
     {2, 2},
     {1, 1},
     {},
     true,
     true},
    {"average_ceil_inside",
     "avg_pool2d",
     {1, 5, 14, 15},
     {3, 3},
     {2, 2},
     {1, 1},
     {},
     true,
     false},
    {"average_divisor",
     "avg_pool2d",
     {1, 5, 14, 15},
     {3, 2},
     {2, 2},
     {1, 1},
     {},
     false,
     true,
     7},
    {"average_global", "avg_pool2d", {1, 64, 7, 7}, {7, 7}, {1, 1}, {0, 0}},
    {"average_line", "avg_pool1d", {1, 5, 64}, {3}, {2}, {1}},
    {"average_volume",
     "avg_pool3d",
     {1, 2, 6, 7, 8},
     {2, 3, 2},
     {2, 2, 2},
     {1, 1, 0}},
};

class Pool : public ::testing::TestWithParam<PoolCase> {};

Tensor with_batch(const ops::PoolParams& params, const Tensor& t) {
  if (params.batched) return t;
  Dims sizes = t.sizes(), strides = t.strides();
  sizes.insert(0, 1);
  strides.insert(0, 0);
  return t.as_strided(sizes, strides, t.offset());
}

void expect_pooled(const PoolCase& c, const Tensor& input, double tolerance) {
  const ops::Op& op = ops::get_op(c.op);
  const ValueList args = c.args(input);
  const ops::PoolParams params = ops::pool_params({op, args});
  const Tensor batched = with_batch(params, input);
  const auto expected = pool_oracle(params, batched);
  const Tensor eager = Tensor::full(params.output, 99, input.dtype());
  ASSERT_TRUE(eager_pool(params, batched, eager));
  EXPECT_LE(relative_error(eager, expected), tolerance);
  const Value result = ops::infer_plain({op, args});
  const auto kernel = make_call_code(
      {op, args, std::vector<Tensor>(1), {result}}, kSliceThreads);
  ASSERT_TRUE(kernel);
  EXPECT_TRUE(kernel->native());
  const Tensor out =
      Tensor::full(result.as_tensor().sizes(), 99, input.dtype());
  EXPECT_EQ(run_kernel(*kernel, {input, out}), program::kOk);
  EXPECT_LE(relative_error(out, expected), tolerance);
}

TEST_P(Pool, EqualsTheDefinition) {
  const bool average = std::string_view(GetParam().op).starts_with("avg");
  const Tensor input = random_tensor(GetParam().input);
  expect_pooled(GetParam(), input, average ? 1e-6 : 0);
  expect_pooled(GetParam(), input.to(DType::bf16), average ? 4e-3 : 0);
  expect_pooled(GetParam(), input.to(DType::f16), average ? 5e-4 : 0);
}

TEST_P(Pool, OfChannelsLastEqualsTheDefinition) {
  if (GetParam().input.size() != GetParam().kernel.size() + 2)
    GTEST_SKIP() << "images without a batch have no order of channels";
  const bool average = std::string_view(GetParam().op).starts_with("avg");
  expect_pooled(GetParam(), channels_last_copy(random_tensor(GetParam().input)),
                average ? 1e-6 : 0);
}

TEST_P(Pool, KeepsNanAndInfinities) {
  if (std::string_view(GetParam().op).starts_with("avg"))
    GTEST_SKIP() << "averages are not picked from the numbers";
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Tensor input = Tensor::full(GetParam().input, -kInfinity);
  auto* data = input.data_as<float>();
  for (int64_t i = 0; i < input.numel(); i += 37) data[i] = NAN;
  for (int64_t i = 5; i < input.numel(); i += 53) data[i] = kInfinity;
  for (int64_t i = 11; i < input.numel(); i += 17) data[i] = 3;
  expect_pooled(GetParam(), input, 0);
}

INSTANTIATE_TEST_SUITE_P(Cases, Pool, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

TEST(PoolRefusals, IntegersAndIndicesAreLeftToThePlainKernel) {
  const PoolCase c{"", "max_pool2d", {1, 2, 8, 8}, {2, 2}, {2, 2}, {0, 0}};
  const ops::Op& op = ops::get_op(c.op);
  const Tensor input = random_tensor(c.input).to(DType::i32);
  const ValueList args = c.args(input);
  EXPECT_FALSE(eager_pool(ops::pool_params({op, args}), input,
                          Tensor::empty({1, 2, 4, 4}, DType::i32)));
  const ops::Op& both = ops::get_op("max_pool2d_with_indices");
  const ValueList both_args =
      bound_args("max_pool2d_with_indices", {random_tensor(c.input), 2});
  const Value results = ops::infer_plain({both, both_args});
  EXPECT_FALSE(make_call_code(
      {both, both_args, std::vector<Tensor>(1), results.as_sequence()},
      kSliceThreads));
}

}  // namespace TEST_FILE
}  // namespace fxjit::kernels::testing
