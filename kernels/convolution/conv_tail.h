// Runs the generated epilogue of a convolution (src/program/convolution/tail.h)
// during one call.
#pragma once

#include <cstdint>
#include <span>

#include "src/program/steps/step_code.h"

namespace fxjit::kernels {

class ConvTail {
 public:
  static constexpr size_t kMostExtras = 4;

  // `call` has the code and must outlive this object. One task is `places`
  // places. `extras` are the extra tensors.
  ConvTail(const program::StepCall& call, int64_t places,
           std::span<void* const> extras, void* output);

  // Applies the epilogue in place to `places` places from `first` on. Both must
  // be multiples of a task.
  void run(int64_t first, int64_t places) const;

 private:
  program::KernelFn code_;
  int64_t places_;
  void* operands_[kMostExtras + 2];
  program::StepCall call_;
};

}  // namespace fxjit::kernels
