// Random operands, and what products, convolutions and pooling come to in
// double precision by loops over their definitions. Knows neither the plain
// kernels nor oneDNN.
#pragma once

#include <memory>
#include <vector>

#include "fxjit/tensor.h"
#include "kernels/call_request.h"
#include "src/ops/eager/convolution.h"
#include "tests/support/guarded_bytes.h"
#include "tests/support/host_levels.h"

namespace fxjit::kernels::testing {

using support::host_levels;

// Steps are made for this many threads: slices of uneven sizes.
inline constexpr int kSliceThreads = 3;

// Normal numbers, the same for the same seed.
Tensor random_tensor(const Dims& sizes, DType dtype = DType::f32,
                     unsigned seed = 1);
// The same elements with the last two dims (or the channels) stored in another
// order.
Tensor transposed_copy(const Tensor& tensor);
Tensor channels_last_copy(const Tensor& tensor);

std::vector<double> doubles(const Tensor& tensor);

// a [B, M, K] times b [B, K, N], plus bias [N] where defined.
std::vector<double> product_oracle(const Tensor& a, const Tensor& b,
                                   const Tensor& bias);
std::vector<double> conv_oracle(const ops::ConvParams& params,
                                const Tensor& input, const Tensor& weight,
                                const Tensor& bias);

// Greatest difference over the greatest magnitude expected; NaN where either
// side alone has one. Infinities must be equal.
double relative_error(const Tensor& result,
                      const std::vector<double>& expected);

// A call of the named op with defaults filled in; tensors may be meta.
std::vector<Value> bound_args(const char* op, const ValueList& args);

using Tight = support::GuardedBytes::Tight;

// Copies of tensors, the last of them a result, that nothing can be read or
// written beside.
class GuardedTensors {
 public:
  GuardedTensors(const std::vector<Tensor>& tensors, Tight tight);

  void* const* addresses() const { return addresses_.data(); }
  // Writes the result back. Fails the current test where another tensor is not
  // what it was.
  void take_result() const;

 private:
  std::vector<Tensor> tensors_;
  std::vector<std::unique_ptr<support::GuardedBytes>> blocks_;
  std::vector<void*> addresses_;
};

// Runs a kernel as an Executable would, task by task, on guarded copies of the
// operands and guarded scratch memory; the last operand is the result. Returns
// the status.
int32_t run_kernel(const program::ExternCode& kernel,
                   const std::vector<Tensor>& operands);

// What a compiled program has for a call; null: the eager function.
std::shared_ptr<const program::ExternCode> make_call_code(
    const CallRequest& request, int threads);

}  // namespace fxjit::kernels::testing
