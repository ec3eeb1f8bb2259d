// Steps of conv_last: results with channels innermost, against sums in double
// precision.
#pragma once

#include <gtest/gtest.h>

#include <span>

#include "kernels/kernels.h"
#include "src/ops/table/layouts.h"
#include "src/passes/lowering/lower.h"
#include "tests/kernels/conv_cases.h"
#include "tests/kernels/kernel_test_util.h"

namespace fxjit::kernels::testing {

// A convolution whose operands have a batch.
struct LastCall {
  Tensor input, weight, bias;
  ops::ConvParams params;
  ValueList args;  // conv_last's.

  LastCall(const ConvCase& c, bool channels_last) {
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
    args = {input,
            weight,
            bias,
            params.stride,
            params.pad_before,
            params.pad_after,
            params.dilation,
            params.transposed,
            params.transposed ? params.output_padding : Dims(params.spatial, 0),
            params.groups};
  }

  // Another tensor of the input's sizes.
  void read_from(const Tensor& x) { args[0] = input = x; }

  // Other numbers of places before and behind a row, as "same" padding has
  // them.
  void pad_width(int64_t before, int64_t after) {
    const size_t width = params.spatial - 1;
    params.output[static_cast<int>(width) + 2] =
        (input.sizes().back() + before + after -
         params.dilation[width] * (weight.sizes().back() - 1) - 1) /
            params.stride[width] +
        1;
    params.pad_before[width] = before;
    params.pad_after[width] = after;
    args[4] = params.pad_before;
    args[5] = params.pad_after;
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

inline void expect_result(const LastCall& call, const Tensor& out) {
  EXPECT_LT(relative_error(out, call.sums()), 2e-6);
}

inline void expect_step(const LastCall& call, bool constant, int threads,
                        CpuLevel level = host_cpu_level()) {
  const ops::Op& op = passes::conv_last_op();
  const Value result = ops::infer_plain({op, call.args});
  std::vector<Tensor> constants(3);
  if (constant) constants[1] = call.weight;
  const auto kernel = make_call_code(
      {op, call.args, constants, ValueList{result}, level}, threads);
  ASSERT_TRUE(kernel);
  EXPECT_TRUE(kernel->native());
  const Tensor out = Tensor::full(result.as_tensor().sizes(), 99, DType::f32);
  EXPECT_EQ(run_kernel(*kernel, {call.input, call.weight, call.bias, out}),
            program::kOk);
  SCOPED_TRACE(kernel->describe() + ", threads " + std::to_string(threads));
  expect_result(call, out);
}

// The loops of one level, which may be below the machine's, on operands that
// nothing can be read or written beside. Conv: ImageConv or one like it.
template <typename Conv>
void expect_level(const Conv& conv, const LastCall& call, CpuLevel level) {
  std::vector<float> packed(conv.packed_bytes() / sizeof(float));
  conv.pack(call.weight.data_as<float>(), packed.data());
  const Tensor out =
      ops::infer_plain({passes::conv_last_op(), call.args}).as_tensor();
  const Tensor result = Tensor::full(out.sizes(), 99, DType::f32);
  for (Tight tight : {Tight::begin, Tight::end}) {
    const support::GuardedBytes weights(std::as_bytes(std::span(packed)),
                                        tight);
    const GuardedTensors copies({call.input, call.bias, result}, tight);
    const auto floats = [&](int i) {
      return static_cast<float*>(copies.addresses()[i]);
    };
    typename Conv::Data data{floats(0),
                             reinterpret_cast<float*>(weights.data()),
                             floats(1), floats(2), level};
    conv.run(data, 0, conv.rows());
    copies.take_result();
    SCOPED_TRACE(cpu_level_name(level));
    expect_result(call, result);
  }
}

}  // namespace fxjit::kernels::testing
