// Runs the generated part of a convolution's epilogue
// (src/program/convolution/tail.h) during one call.
#pragma once

#include <cstdint>

#include "kernels/convolution/post_work.h"
#include "src/program/steps/step_code.h"

namespace fxjit::kernels {

class ConvTail {
 public:
  // `call` has the code and must outlive this object. One task is `places`
  // places. `work` says where the `extras` extra tensors lie.
  ConvTail(const program::StepCall& call, int64_t places, const PostWork& work,
           size_t extras, void* output);

  // Applies the epilogue in place to `places` places from `first` on. Both must
  // be multiples of a task.
  void run(int64_t first, int64_t places) const;

 private:
  program::KernelFn code_;
  int64_t places_;
  void* operands_[PostWork::kMostExtras + 2];
  program::StepCall call_;
};

}  // namespace fxjit::kernels
