#include "src/program/convolution/tail.h"

#include "fxjit/error.h"
#include "src/ops/eager/convolution.h"
#include "src/passes/lowering/internal_ops.h"

namespace fxjit::program {
namespace {

// Whether loops over rows compute the call, which finish whole rows.
bool makes_rows(CallCode code) {
  return code != CallCode::convolution && code != CallCode::eager;
}

Access access_of(int64_t step) {
  Access access;
  access.outer = {step};
  return access;
}

}  // namespace

std::vector<RowStep> convolution_tail(const ops::OpCall& call, CallCode code,
                                      const Machine& machine) {
  if (&call.op != &passes::conv_last_work_op() || code == CallCode::eager)
    return {};
  RowStep step;
  step.body = passes::conv_epilogue(call);
  const Dims output = ops::conv_params(call).output;
  const int64_t channels = output[1];
  const int64_t places = numel(output) / channels;
  const ValueList& extras = passes::conv_extras(call);
  bool whole_rows = makes_rows(code);
  for (const Value& extra : extras)
    whole_rows = whole_rows && extra.as_tensor().numel() == places * channels;
  const int64_t together = whole_rows ? output.back() : Size(1);
  step.outer = {places / together};
  step.inner = together * channels;
  step.inputs = step.outputs = {access_of(step.inner)};
  for (const Value& extra : extras) {
    const bool same = extra.as_tensor().numel() == channels && places > 1;
    step.inputs.push_back(access_of(same ? 0 : step.inner));
  }
  step.analyse(machine);
  FXJIT_CHECK(step.plan(machine.level).scratch_bytes == 0,
              "epilogues of convolutions need no scratch");
  return {std::move(step)};
}

}  // namespace fxjit::program
