#include "kernels/convolution/conv_request.h"

#include "src/passes/lowering/conv_work.h"
#include "src/passes/lowering/lower.h"

namespace fxjit::kernels {

std::optional<ConvRequest> ConvRequest::read(const CallRequest& request) {
  const ops::OpCall call{request.op, request.args};
  const bool with_work = &request.op == &passes::conv_last_work_op();
  ConvRequest made;
  made.params = ops::conv_params(call);
  made.has_bias = call.has(2);
  made.channels_last = with_work || &request.op == &passes::conv_last_op();
  if (!request.results[0].as_tensor().is_contiguous() ||
      (made.has_bias && !call.tensor(2).is_contiguous()))
    return std::nullopt;
  if (!with_work) return made;
  const int64_t channels = made.params.output[1];
  if (request.tail) {
    const int64_t places = numel(made.params.output) / channels;
    made.tail_places = places / numel(request.tail->outer);
  } else {
    auto work = ops::conv_post_ops_of(passes::conv_epilogue(call));
    if (!work) return std::nullopt;
    made.work = std::move(*work);
  }
  for (const Value& extra : passes::conv_extras(call))
    made.extra_steps.push_back(
        extra.as_tensor().numel() == channels ? 0 : channels);
  return made;
}

ConvTail ConvRequest::tail_of(const program::StepCall& call,
                              const PostWork& work) const {
  return {call, tail_places, work, extra_steps.size(), output_of(call)};
}

PostWork ConvRequest::work_of(const program::StepCall& call) const {
  PostWork made;
  made.ops = work.data();
  made.count = static_cast<int64_t>(work.size());
  for (size_t i = 0; i < extra_steps.size(); ++i) {
    made.extras[i] =
        static_cast<const float*>(call.operands[2 + (has_bias ? 1 : 0) + i]);
    made.steps[i] = extra_steps[i];
  }
  return made;
}

}  // namespace fxjit::kernels
