#include "kernels/convolution/conv_row.h"

namespace fxjit::kernels {

ConvRow conv_row(const std::array<ConvAxis, 3>& axes, const float* input,
                 int64_t image_step, int64_t index) {
  const ConvAxis &depth = axes[0], &height = axes[1], &width = axes[2];
  const int64_t image = index / (depth.places * height.places);
  const int64_t place[2] = {index / height.places % depth.places,
                            index % height.places};
  ConvRow row{};
  row.input = input + image * image_step - width.pad * width.step;
  for (size_t i = 0; i < 2; ++i) {
    const ConvAxis& axis = axes[i];
    row.input += (place[i] * axis.stride - axis.pad) * axis.step;
    row.taps[i] = axis.inside[static_cast<size_t>(place[i])];
  }
  for (size_t i = 0; i < 3; ++i) {
    row.kernel[i] = axes[i].taps;
    row.tap_step[i] = axes[i].dilation * axes[i].step;
  }
  row.columns = width.inside.data();
  row.places = width.places;
  row.place_step = width.stride * width.step;
  return row;
}

}  // namespace fxjit::kernels
