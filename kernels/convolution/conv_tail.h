// The generated part of a convolution's epilogue
// (src/program/convolution/tail.h) in one call.
#pragma once

#include <cstdint>

#include "kernels/convolution/post_work.h"
#include "src/program/steps/step_code.h"

namespace fxjit::kernels {

class ConvTail {
 public:
  // `call` has the code and outlives the tail. A task is `places` places;
  // `work` says where the extra tensors are, of which there are `extras`.
  ConvTail(const program::StepCall& call, int64_t places, const PostWork& work,
           size_t extras, void* output);

  // In place, on places from `first` on: whole tasks.
  void run(int64_t first, int64_t places) const;

 private:
  program::KernelFn code_;
  int64_t places_;
  void* operands_[PostWork::kMostExtras + 2];
  program::StepCall call_;
};

}  // namespace fxjit::kernels
