// What a step of conv_last or conv_last_work asks for. Its operands are input,
// weight, bias (if there is one), extra tensors, output, in this order.
#pragma once

#include <optional>

#include "kernels/call_request.h"
#include "kernels/convolution/conv_tail.h"
#include "kernels/convolution/post_work.h"
#include "src/ops/eager/convolution.h"

namespace fxjit::kernels {

struct ConvRequest {
  // Reads a request. nullopt if the operands are not as the ops say, or if the
  // loops of this folder cannot compute the epilogue.
  static std::optional<ConvRequest> read(const CallRequest& request);

  // The work of a call, with its pointers at the output's first element.
  PostWork work_of(const program::StepCall& call) const;
  // The generated epilogue of a call that has one. `work` must be
  // work_of(call).
  ConvTail tail_of(const program::StepCall& call, const PostWork& work) const;
  const float* bias_of(const program::StepCall& call) const {
    return has_bias ? static_cast<const float*>(call.operands[2]) : nullptr;
  }
  size_t output_operand() const {
    return 2 + (has_bias ? 1 : 0) + extra_steps.size();
  }
  void* output_of(const program::StepCall& call) const {
    return call.operands[output_operand()];
  }

  ops::ConvParams params;
  bool has_bias = false;
  bool channels_last = false;  // The output's memory is [N, ..., C].
  ops::PostOps work;
  // If not 0, the epilogue is generated, and one of its tasks is this many
  // places; `work` is empty then.
  int64_t tail_places = 0;
  std::vector<int64_t> extra_steps;  // Of each extra tensor: see PostWork.
};

}  // namespace fxjit::kernels
