// The rows of the layers over volumes.
#include "fxjit/nn/volumes.h"
#include "src/nn/layer_rows.h"
#include "src/nn/layer_types.h"

namespace fxjit::nn {

void add_volume_types(std::vector<ModuleType>& types) {
  types.push_back(convolution<Conv3d>("Conv3d"));
  types.push_back(convolution<ConvTranspose3d>("ConvTranspose3d"));
  types.push_back(running_norm<BatchNorm3d>("BatchNorm3d"));
  types.push_back(max_pool<MaxPool3d>("MaxPool3d"));
  types.push_back(avg_pool<AvgPool3d>("AvgPool3d"));
  types.push_back(layer<AdaptiveAvgPool3d>(
      "AdaptiveAvgPool3d",
      field("output_size", &AdaptiveAvgPool3d::output_size)));
}

}  // namespace fxjit::nn
