#include "kernels/convolution/conv_tail.h"

#include <algorithm>

namespace fxjit::kernels {

ConvTail::ConvTail(const program::StepCall& call, int64_t places,
                   std::span<void* const> extras, void* output)
    : code_(call.part), places_(places), call_(call) {
  operands_[0] = operands_[extras.size() + 1] = output;
  std::ranges::copy(extras, operands_ + 1);
}

void ConvTail::run(int64_t first, int64_t places) const {
  program::StepCall call = call_;
  call.operands = operands_;
  code_(&call, first / places_, (first + places) / places_);
}

}  // namespace fxjit::kernels
