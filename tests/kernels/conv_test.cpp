// Convolutions of the interpreter and of compiled programs.
#include <gtest/gtest.h>

#include "kernels/kernels.h"
#include "src/ops/table/layouts.h"
#include "tests/kernels/conv_cases.h"
#include "tests/kernels/kernel_test_util.h"

namespace fxjit::kernels::testing {
namespace TEST_FILE {

struct Operands {
  Tensor input, weight, bias;
  ops::ConvParams params;

  Operands(const ConvCase& c, DType dtype, bool with_bias) {
    input = random_tensor(c.input, dtype, 1);
    weight = random_tensor(c.weight, dtype, 2);
    if (with_bias) bias = random_tensor({c.output_channels()}, dtype, 3);
    params = ops::conv_params({op(), bound(c)});
  }

  static const ops::Op& op() { return ops::get_op("convolution"); }

  ValueList bound(const ConvCase& c) const {
    return bound_args(
        "convolution",
        c.args(input, weight, bias.defined() ? Value(bias) : Value()));
  }
  Tensor with_batch(const Tensor& t) const {
    if (params.batched) return t;
    Dims sizes = t.sizes(), strides = t.strides();
    sizes.insert(0, 1);
    strides.insert(0, 0);
    return t.as_strided(sizes, strides, t.offset());
  }
  std::vector<double> expected() const {
    return conv_oracle(params, with_batch(input), weight, bias);
  }
};

double tolerance(DType dtype) {
  switch (dtype) {
    case DType::bf16:
      return 5e-3;
    case DType::f16:
      return 6e-4;
    default:
      return 2e-6;
  }
}

class Conv : public ::testing::TestWithParam<ConvCase> {};

TEST_P(Conv, InterpreterEqualsTheSumsInDouble) {
  for (DType dtype : {DType::f32, DType::bf16, DType::f16})
    for (bool with_bias : {false, true}) {
      const Operands o(GetParam(), dtype, with_bias);
      const auto expected = o.expected();
      const Tensor out = Tensor::full(o.params.output, 99, dtype);
      ops::run_conv(o.params, o.with_batch(o.input), o.weight, o.bias, out);
      EXPECT_LT(relative_error(out, expected), tolerance(dtype))
          << dtype_name(dtype) << " bias " << with_bias;
    }
}

// A compiled step on these operands; constants are packed at creation.
void expect_step(const ConvCase& c, Operands& o, bool constant) {
  const ops::OpCall call{Operands::op(), {}};
  const ValueList args = o.bound(c);
  std::vector<Tensor> constants(o.bias.defined() ? 3 : 2);
  if (constant) constants[1] = o.weight;
  const Value result = ops::infer_plain({call.op, args});
  const auto kernel = make_call_code(
      {call.op, args, constants, ValueList{result}}, kSliceThreads);
  ASSERT_TRUE(kernel);
  EXPECT_TRUE(kernel->native());
  EXPECT_EQ(kernel->describe().find("ref"), std::string::npos);
  const Tensor out =
      Tensor::full(result.as_tensor().sizes(), 99, o.input.dtype());
  std::vector<Tensor> operands = {o.input, o.weight};
  if (o.bias.defined()) operands.push_back(o.bias);
  operands.push_back(out);
  EXPECT_EQ(run_kernel(*kernel, operands), program::kOk);
  EXPECT_LT(relative_error(out, o.expected()), tolerance(o.input.dtype()))
      << kernel->describe();
}

TEST_P(Conv, StepEqualsTheSumsInDouble) {
  for (bool with_bias : {false, true})
    for (bool constant : {true, false}) {
      Operands o(GetParam(), DType::f32, with_bias);
      expect_step(GetParam(), o, constant);
    }
}

TEST_P(Conv, StepReadsChannelsLast) {
  if (GetParam().input.size() != GetParam().weight.size())
    GTEST_SKIP() << "images without a batch have no order of channels";
  Operands o(GetParam(), DType::f32, true);
  o.input = channels_last_copy(o.input);
  o.weight = channels_last_copy(o.weight);
  expect_step(GetParam(), o, true);
}

std::string case_name(const ::testing::TestParamInfo<ConvCase>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Cases, Conv, ::testing::ValuesIn(kConvCases),
                         case_name);

TEST(ConvStep, ReadsPartsOfLargerTensors) {
  const ConvCase c{"part", {2, 24, 20, 20}, {32, 24, 3, 3},
                   {1, 1}, {1, 1},          {1, 1}};
  Operands o(c, DType::f32, true);
  const Tensor whole = random_tensor({2, 48, 40, 50});
  o.input = whole.as_strided(c.input, {48 * 2000, 2000, 100, 1}, 2000 * 7 + 3);
  expect_step(c, o, true);
}

TEST(ConvStep, Bf16WhereTheMachineHasIt) {
  const ConvCase c{"half", {1, 32, 20, 20}, {64, 32, 3, 3},
                   {1, 1}, {1, 1},          {1, 1}};
  Operands o(c, DType::bf16, true);
  const ValueList args = o.bound(c);
  const Value result = ops::infer_plain({Operands::op(), args});
  if (!make_call_code({Operands::op(), args, std::vector<Tensor>(3), {result}},
                      kSliceThreads))
    GTEST_SKIP() << "oneDNN has no fast bf16 convolution on this machine";
  expect_step(c, o, true);
}

TEST(ConvStep, PacksSharedWeightsOnce) {
  const ConvCase c{"shared", {1, 64, 20, 20}, {64, 64, 3, 3},
                   {1, 1},   {1, 1},          {1, 1}};
  Operands o(c, DType::f32, false);
  // Pages that are given back are counted once per packing.
  int packings = 0;
  o.weight.storage()->release_pages = [&](size_t offset, size_t bytes) {
    EXPECT_EQ(offset, 0u);
    EXPECT_EQ(bytes, 64u * 64 * 9 * 4);
    ++packings;
  };
  const ValueList args = o.bound(c);
  const Value result = ops::infer_plain({Operands::op(), args});
  weights::Store store(host_cpu_level());
  weights::Packer packer(store, support::ThreadPool::shared(), kSliceThreads);
  const CallRequest request{Operands::op(),       args,
                            {Tensor(), o.weight}, {result},
                            host_cpu_level(),     &packer};
  const auto first = make_call_code(request, kSliceThreads),
             second = make_call_code(request, kSliceThreads);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(packings, 1);
}

}  // namespace TEST_FILE
}  // namespace fxjit::kernels::testing
