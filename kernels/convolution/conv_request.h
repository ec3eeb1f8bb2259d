// What a step of conv_last or conv_last_work asks for. Its operands are input,
// weight, bias (if there is one), extra tensors, output, in this order.
#pragma once

#include <optional>

#include "kernels/call_request.h"
#include "kernels/convolution/conv_tail.h"
#include "src/ops/eager/convolution.h"

namespace fxjit::kernels {

struct ConvRequest {
  // Reads a request. nullopt if the operands are not as the ops say.
  static std::optional<ConvRequest> read(const CallRequest& request);

  // The generated epilogue of a call, if there is one.
  std::optional<ConvTail> tail_of(const program::StepCall& call) const;
  const float* bias_of(const program::StepCall& call) const {
    return has_bias ? static_cast<const float*>(call.operands[2]) : nullptr;
  }
  size_t output_operand() const { return 2 + (has_bias ? 1 : 0) + extras; }
  void* output_of(const program::StepCall& call) const {
    return call.operands[output_operand()];
  }

  ops::ConvParams params;
  bool has_bias = false;
  bool channels_last = false;  // The output's memory is [N, ..., C].
  // Of one task of the epilogue; 0 where there is none.
  int64_t tail_places = 0;
  size_t extras = 0;  // Tensors that it reads beside the sums.
};

}  // namespace fxjit::kernels
