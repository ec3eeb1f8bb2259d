// Steps of conv_last and conv_last_work: results with channels innermost, and
// what is done to them, against sums and functions in double precision.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "kernels/kernels.h"
#include "src/ops/eager/body_value.h"
#include "src/ops/table/layouts.h"
#include "src/passes/lowering/conv_work.h"
#include "src/passes/lowering/lower.h"
#include "src/support/rounding.h"
#include "tests/kernels/conv_cases.h"
#include "tests/kernels/kernel_test_util.h"
#include "tests/kernels/post_body.h"
#include "tests/kernels/post_oracle.h"

namespace fxjit::kernels::testing {

// An extra tensor of the result's shape, or (marked by a = 1) of the channels.
inline const ops::PostOps kConvWorks[] = {
    {},
    {{ops::PostKind::relu}},
    {{ops::PostKind::add, 0, 0, 0}, {ops::PostKind::clip, -0.5f, 6}},
    {{ops::PostKind::multiply, 1, 0, 0},
     {ops::PostKind::add, 1, 0, 1},
     {ops::PostKind::silu},
     {ops::PostKind::add, 0, 0, 2}},
};

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

  // Another tensor of the input's sizes.
  void read_from(const Tensor& x) { plain[0] = input = x; }

  // Other numbers of places before and behind a row, as "same" padding has
  // them; for work without extra tensors of the result's shape.
  void pad_width(int64_t before, int64_t after) {
    const size_t width = params.spatial - 1;
    params.output[static_cast<int>(width) + 2] =
        (input.sizes().back() + before + after -
         params.dilation[width] * (weight.sizes().back() - 1) - 1) /
            params.stride[width] +
        1;
    params.pad_before[width] = before;
    params.pad_after[width] = after;
    plain[4] = params.pad_before;
    plain[5] = params.pad_after;
  }

  ValueList args() const {
    ValueList args = plain, tensors(extras.begin(), extras.end());
    args.push_back(ops::to_value(post_body(work)));
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
inline void expect_result(const WorkCall& call, const Tensor& out) {
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

inline void expect_step(const WorkCall& call, bool constant, int threads,
                        CpuLevel level = host_cpu_level()) {
  const ops::Op& op = passes::conv_last_work_op();
  const ValueList args = call.args();
  const Value result = ops::infer_plain({op, args});
  std::vector<Tensor> constants(3 + call.extras.size());
  if (constant) constants[1] = call.weight;
  const auto kernel =
      make_call_code({op, args, constants, ValueList{result}, level}, threads);
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

// The loops of one level, which may be below the machine's, on operands that
// nothing can be read or written beside. Conv: ImageConv or one like it.
template <typename Conv>
void expect_level(const Conv& conv, const WorkCall& call, CpuLevel level) {
  std::vector<float> packed(conv.packed_bytes() / sizeof(float));
  conv.pack(call.weight.data_as<float>(), packed.data());
  const Tensor out =
      ops::infer_plain({passes::conv_last_op(), call.plain}).as_tensor();
  const Tensor result = Tensor::full(out.sizes(), 99, DType::f32);
  const support::GuardedBytes scratch(
      support::round_up(conv.scratch_bytes(), size_t{64}));
  for (Tight tight : {Tight::begin, Tight::end}) {
    const support::GuardedBytes weights(std::as_bytes(std::span(packed)),
                                        tight);
    const GuardedTensors copies({call.input, call.bias, result}, tight);
    const auto floats = [&](int i) {
      return static_cast<float*>(copies.addresses()[i]);
    };
    typename Conv::Data data{floats(0),
                             reinterpret_cast<float*>(weights.data()),
                             floats(1),
                             floats(2),
                             {},
                             level,
                             reinterpret_cast<float*>(scratch.data())};
    data.work.ops = call.work.data();
    data.work.count = static_cast<int64_t>(call.work.size());
    conv.run(data, 0, conv.rows());
    copies.take_result();
    SCOPED_TRACE(cpu_level_name(level));
    expect_result(call, result);
  }
}

}  // namespace fxjit::kernels::testing
