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
  FXJIT_CHECK(request.tail, "epilogues of convolutions are generated");
  const int64_t places = numel(made.params.output) / made.params.output[1];
  made.tail_places = places / numel(request.tail->outer);
  made.extras = passes::conv_extras(call).size();
  return made;
}

std::optional<ConvTail> ConvRequest::tail_of(
    const program::StepCall& call) const {
  if (tail_places == 0) return std::nullopt;
  return ConvTail(call, tail_places,
                  {call.operands + output_operand() - extras, extras},
                  output_of(call));
}

}  // namespace fxjit::kernels
