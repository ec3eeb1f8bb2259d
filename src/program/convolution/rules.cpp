#include "src/program/convolution/rules.h"

namespace fxjit::program {
bool is_image_convolution(const ops::ConvParams& params, const Tensor& input,
                          const Tensor& weight) {
  // With more, vectors of channels do better.
  constexpr int64_t kMostChannels = 4;
  // Where the library's code for whole blocks of features does better.
  constexpr int64_t kManyFeatures = 32, kManyTaps = 64;
  if (params.output[1] >= kManyFeatures &&
      weight.numel() >= kManyTaps * params.output[1])
    return false;
  return params.batched && !params.transposed && params.groups == 1 &&
         weight.sizes()[1] <= kMostChannels &&
         params.output[1] >= kLeastImageFeatures &&
         input.dtype() == DType::f32 && weight.dtype() == DType::f32 &&
         numel(params.output) > 0 && input.numel() > 0;
}

}  // namespace fxjit::program
