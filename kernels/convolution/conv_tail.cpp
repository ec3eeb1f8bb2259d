#include "kernels/convolution/conv_tail.h"

namespace fxjit::kernels {

ConvTail::ConvTail(const program::StepCall& call, int64_t places,
                   const PostWork& work, size_t extras, void* output)
    : code_(call.part), places_(places), call_(call) {
  operands_[0] = operands_[extras + 1] = output;
  // Operands that are read are pointed to as those that are written.
  for (size_t i = 0; i < extras; ++i)
    operands_[i + 1] = const_cast<float*>(work.extras[i]);
}

void ConvTail::run(int64_t first, int64_t places) const {
  program::StepCall call = call_;
  call.operands = operands_;
  code_(&call, first / places_, (first + places) / places_);
}

}  // namespace fxjit::kernels
