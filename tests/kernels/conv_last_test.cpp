// Steps of conv_last and conv_last_work: results with channels innermost, and
// what is done to them, against sums and functions in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "kernels/convolution/depthwise.h"
#include "kernels/convolution/image_conv.h"
#include "kernels/kernels.h"
#include "src/ops/table/layouts.h"
#include "src/passes/lowering/conv_work.h"
#include "src/passes/lowering/lower.h"
#include "src/program/planning/routine_rules.h"
#include "tests/kernels/conv_cases.h"
#include "tests/kernels/kernel_test_util.h"
#include "tests/kernels/post_oracle.h"

namespace fxjit::kernels::testing {
namespace {

using ops::PostKind;

// A convolution whose operands have a batch, and work on its result.
struct WorkCall {
  Tensor input, weight, bias;
  ops::PostOps work;
  std::vector<Tensor> extras;
  ops::ConvParams params;
  ValueList plain;  // conv_last's arguments.

  WorkCall(const ConvCase& c, ops::PostOps what, bool channels_last)
      : work(std::move(what)) {
    Dims sizes = c.input;
    if (sizes.size() < c.weight.size()) sizes.insert(0, 1);
    input = random_tensor(sizes, DType::f32, 1);
    if (channels_last) input = channels_last_copy(input);
    weight = random_tensor(c.weight, DType::f32, 2);
    bias = random_tensor({c.output_channels()}, DType::f32, 3);
    ConvCase batched = c;
    batched.input = sizes;
    params = ops::conv_params(
        {ops::get_op("convolution"),
         bound_args("convolution", batched.args(input, weight, bias))});
    plain = {
        input,
        weight,
        bias,
        params.stride,
        params.pad_before,
        params.pad_after,
        params.dilation,
        params.transposed,
        params.transposed ? params.output_padding : Dims(params.spatial, 0),
        params.groups};
    const Dims last =
        ops::infer_plain({passes::conv_last_op(), plain}).as_tensor().sizes();
    for (const ops::PostOp& op : work)
      if (op.tensor >= 0)
        extras.push_back(random_tensor(
            op.a == 0 ? last : Dims{c.output_channels()}, DType::f32, 7));
  }

  ValueList args() const {
    ValueList args = plain, tensors(extras.begin(), extras.end());
    args.push_back(ops::to_value(work));
    args.push_back(Value::list(std::move(tensors)));
    return args;
  }

  // In the order [N, ..., C].
  std::vector<double> sums() const {
    const std::vector<double> planes = conv_oracle(params, input, weight, bias);
    const int64_t channels = params.output[1];
    const int64_t places = numel(params.output) / channels / params.output[0];
    std::vector<double> result;
    for (int64_t n = 0; n < params.output[0]; ++n)
      for (int64_t p = 0; p < places; ++p)
        for (int64_t c = 0; c < channels; ++c)
          result.push_back(
              planes[static_cast<size_t>((n * channels + c) * places + p)]);
    return result;
  }
};

// Errors are those of sums: relative to the largest of them.
void expect_result(const WorkCall& call, const Tensor& out) {
  std::vector<double> expected = call.sums();
  const auto largest = [&] {
    double most = 1e-30;
    for (double x : expected)
      if (std::isfinite(x)) most = std::max(most, std::abs(x));
    return most;
  };
  const double of_sums = largest();
  post_oracle(call.work, call.extras, call.params.output[1], expected);
  const double scale = std::min(1.0, largest() / of_sums);
  EXPECT_LT(relative_error(out, expected) * scale, 2e-6);
}

void expect_step(const WorkCall& call, bool constant, int threads) {
  const ops::Op& op = passes::conv_last_work_op();
  const ValueList args = call.args();
  const Value result = ops::infer_plain({op, args});
  std::vector<Tensor> constants(3 + call.extras.size());
  if (constant) constants[1] = call.weight;
  const auto kernel =
      make_kernel({op, args, constants, ValueList{result}}, threads);
  ASSERT_TRUE(kernel);
  EXPECT_TRUE(kernel->native());
  const Tensor out = Tensor::full(result.as_tensor().sizes(), 99, DType::f32);
  std::vector<Tensor> operands = {call.input, call.weight, call.bias};
  operands.insert(operands.end(), call.extras.begin(), call.extras.end());
  operands.push_back(out);
  EXPECT_EQ(run_kernel(*kernel, operands), program::kOk);
  SCOPED_TRACE(kernel->describe() + ", threads " + std::to_string(threads));
  expect_result(call, out);
}

class ConvLast : public ::testing::TestWithParam<ConvCase> {};

// An extra tensor of the result's shape, or (marked by a = 1) of the channels.
const ops::PostOps kWorks[] = {
    {},
    {{PostKind::relu}},
    {{PostKind::add, 0, 0, 0}, {PostKind::clip, -0.5f, 6}},
    {{PostKind::multiply, 1, 0, 0},
     {PostKind::add, 1, 0, 1},
     {PostKind::silu},
     {PostKind::add, 0, 0, 2}},
};

TEST_P(ConvLast, StepEqualsDoublePrecision) {
  for (const ops::PostOps& work : kWorks)
    for (bool channels_last : {false, true})
      expect_step(WorkCall(GetParam(), work, channels_last), true,
                  kSliceThreads);
}

TEST_P(ConvLast, OneThreadAndWeightsOfTheCall) {
  const WorkCall call(GetParam(), kWorks[2], true);
  expect_step(call, true, 1);
  expect_step(call, false, 2);
}

TEST_P(ConvLast, InterpretedEqualsDoublePrecision) {
  const WorkCall call(GetParam(), kWorks[3], true);
  const Value result =
      ops::run_eager({passes::conv_last_work_op(), call.args()});
  expect_result(call, result.as_tensor());
}

std::string case_name(const ::testing::TestParamInfo<ConvCase>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Cases, ConvLast, ::testing::ValuesIn(kConvCases),
                         case_name);

// The loops of one level, which may be below the machine's, on operands that
// nothing can be read or written beside.
template <typename Conv>
void expect_level(const WorkCall& call, CpuLevel level) {
  constexpr bool kDepthwise = std::is_same_v<Conv, Depthwise>;
  ASSERT_TRUE(kDepthwise ? program::is_depthwise_last(call.params, call.input,
                                                      call.weight)
                         : program::is_image_convolution(
                               call.params, call.input, call.weight));
  const Conv conv(call.params, call.input, call.weight);
  std::vector<float> packed(conv.packed_bytes() / sizeof(float));
  conv.pack(call.weight.data_as<float>(), packed.data());
  const Tensor out =
      ops::infer_plain({passes::conv_last_op(), call.plain}).as_tensor();
  const Tensor result = Tensor::full(out.sizes(), 99, DType::f32);
  for (Tight tight : {Tight::begin, Tight::end}) {
    const support::GuardedBytes weights(std::as_bytes(std::span(packed)),
                                        tight);
    const GuardedTensors copies({call.input, call.bias, result}, tight);
    const auto floats = [&](int i) {
      return static_cast<float*>(copies.addresses()[i]);
    };
    typename Conv::Data data{
        floats(0), reinterpret_cast<float*>(weights.data()),
        floats(1), floats(2),
        {},        level};
    data.work.ops = call.work.data();
    data.work.count = static_cast<int64_t>(call.work.size());
    conv.run(data, 0, conv.rows());
    copies.take_result();
    SCOPED_TRACE(cpu_level_name(level));
    expect_result(call, result);
  }
}

std::vector<CpuLevel> host_levels() {
  std::vector<CpuLevel> levels;
  for (CpuLevel level : {CpuLevel::sse41, CpuLevel::avx2, CpuLevel::avx512})
    if (level <= host_cpu_level()) levels.push_back(level);
  return levels;
}

TEST(DepthwiseLoops, EveryLevelEqualsDoublePrecision) {
  for (CpuLevel level : host_levels())
    for (int64_t channels : {3, 6, 29, 64, 150})
      for (int64_t stride : {1, 2, 3})
        for (int64_t window : {3, 4, 5}) {
          const ConvCase c{"level",
                           {2, channels, 9, 17},
                           {channels, 1, window, window},
                           {stride, stride},
                           {2, 2},
                           {1, 1},
                           channels};
          expect_level<Depthwise>(WorkCall(c, kWorks[1], true), level);
        }
}

TEST(ImageConvLoops, EveryLevelEqualsDoublePrecision) {
  for (CpuLevel level : host_levels())
    for (int64_t features : {8, 13, 16, 24, 33, 64, 100})
      for (int64_t channels : {1, 3, 4})
        for (int64_t stride : {1, 2, 3}) {
          const ConvCase c{"level",
                           {2, channels, 9, 27},
                           {features, channels, 3, 4},
                           {stride, stride},
                           {2, 1},
                           {1, 1}};
          for (bool channels_last : {false, true})
            expect_level<ImageConv>(WorkCall(c, kWorks[1], channels_last),
                                    level);
        }
}

// Fewer places than a block, windows wider than the image.
TEST(ImageConvStep, WindowsStridesAndDilations) {
  for (const Dims& window : {Dims{1, 1}, Dims{6, 6}, Dims{7, 3}, Dims{2, 9}})
    for (int64_t width : {1, 7, 8, 21})
      for (int64_t stride : {1, 2})
        for (int64_t dilation : {1, 2})
          for (int64_t pad : {0, 4, 9}) {
            if (width + 2 * pad <= dilation * (window[1] - 1)) continue;
            const ConvCase c{"window",
                             {1, 3, 17, width},
                             {20, 3, window[0], window[1]},
                             {stride, stride},
                             {pad, pad},
                             {dilation, dilation}};
            expect_step(WorkCall(c, kWorks[3], false), true, 3);
          }
}

TEST(ImageConvStep, LinesAndVolumes) {
  const ConvCase line{"line", {2, 2, 90}, {24, 2, 7}, {2}, {3}, {1}};
  const ConvCase volume{"volume",  {1, 2, 5, 9, 12}, {16, 2, 3, 3, 3},
                        {1, 2, 1}, {1, 1, 1},        {1, 1, 1}};
  for (const ConvCase& c : {line, volume})
    expect_step(WorkCall(c, kWorks[2], false), true, 2);
}

// Rows and channels of a larger image.
TEST(ImageConvStep, ReadsPartsOfImages) {
  const ConvCase c{"part", {2, 3, 9, 11}, {24, 3, 3, 3},
                   {1, 1}, {1, 1},        {1, 1}};
  WorkCall call(c, kWorks[1], false);
  const Tensor whole = random_tensor({2, 5, 12, 30});
  call.input = whole.as_strided(c.input, {5 * 12 * 30, 12 * 30, 30, 2}, 37);
  call.plain[0] = call.input;
  expect_step(call, true, 2);
}

// Channels that fill vectors of no level, widths below a block of places,
// windows wider than the image, each stride and dilation.
TEST(DepthwiseStep, AnyNumberOfChannelsAndPlaces) {
  for (int64_t channels : {2, 3, 5, 8, 13, 24, 31, 40, 47, 129, 150})
    for (int64_t width : {1, 2, 6, 7, 15}) {
      const ConvCase c{"odd",
                       {2, channels, 5, width},
                       {channels, 1, 3, 3},
                       {1, 1},
                       {1, 1},
                       {1, 1},
                       channels};
      expect_step(WorkCall(c, kWorks[3], true), true, 2);
    }
}

TEST(DepthwiseStep, WindowsStridesAndDilations) {
  for (const Dims& window : {Dims{1, 1}, Dims{5, 5}, Dims{7, 3}, Dims{2, 9}})
    for (int64_t stride : {1, 2, 3})
      for (int64_t dilation : {1, 2})
        for (int64_t pad : {0, 4, 9}) {
          const ConvCase c{"window",
                           {1, 36, 19, 20},
                           {36, 1, window[0], window[1]},
                           {stride, stride},
                           {pad, pad},
                           {dilation, dilation},
                           36};
          expect_step(WorkCall(c, kWorks[2], true), true, 3);
        }
}

// A part of the channels of a larger image, as a split gives.
TEST(DepthwiseStep, ReadsPartsOfImages) {
  const ConvCase c{
      "part", {2, 24, 9, 11}, {24, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 24};
  WorkCall call(c, kWorks[1], true);
  const Tensor whole = random_tensor({2, 9, 11, 60});
  call.input = whole.as_strided(c.input, {9 * 11 * 60, 1, 11 * 60, 60}, 30);
  call.plain[0] = call.input;
  expect_step(call, true, 2);
}

TEST(ConvLastStep, NanAndInfinityStay) {
  const ConvCase cases[] = {
      {"special", {1, 32, 9, 9}, {32, 32, 3, 3}, {2, 2}, {1, 1}, {1, 1}},
      {"depthwise", {1, 32, 9, 9}, {32, 1, 3, 3}, {2, 2}, {1, 1}, {1, 1}, 32},
      {"few", {1, 4, 25, 29}, {32, 4, 3, 3}, {2, 2}, {1, 1}, {1, 1}}};
  for (const ConvCase& c : cases) {
    for (PostKind kind : {PostKind::relu, PostKind::clip, PostKind::hardswish,
                          PostKind::hardsigmoid, PostKind::silu,
                          PostKind::sigmoid, PostKind::leaky_relu}) {
      WorkCall call(c, {{kind, 0.1f, 6}}, true);
      auto* data = call.input.data_as<float>();
      data[0] = std::numeric_limits<float>::quiet_NaN();
      data[32 * 4 + 5] = std::numeric_limits<float>::infinity();
      data[32 * 40 + 7] = -std::numeric_limits<float>::infinity();
      expect_step(call, true, 2);
    }
  }
}

}  // namespace
}  // namespace fxjit::kernels::testing
