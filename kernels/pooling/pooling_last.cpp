#include "kernels/pooling/pooling_last.h"

#include <algorithm>

namespace fxjit::kernels {

PoolingLast::PoolingLast(const ops::PoolParams& params, const Tensor& input)
    : average_(params.average),
      images_(params.output[0]),
      channels_(params.output[1]),
      image_stride_(input.strides()[0]) {
  read_pool_axes(params, input, axes_);
}

double PoolingLast::elements_per_part() const {
  const double windows = static_cast<double>(axes_[2].places() * channels_);
  double taps = 0;
  for (const PoolWindow& window : axes_[1].windows)
    taps = std::max(taps, static_cast<double>(window.count));
  return windows * (1 + taps);
}

void PoolingLast::run(const void* input, void* output, std::byte*,
                      int64_t begin, int64_t end) const {
  const int64_t height = axes_[1].places(), depth = axes_[0].places();
  PoolBlock job;
  job.average = average_;
  job.output_step = channels_;
  job.channels = PoolBlock::widest(channels_);
  for (int d = 0; d < 3; ++d) {
    job.position_step[d] = axes_[d].stride;
    job.tap_step[d] = axes_[d].stride * axes_[d].dilation;
  }
  job.window_count[0] = job.window_count[1] = 1;
  job.window_count[2] = axes_[2].places();
  job.windows[2] = axes_[2].windows.data();
  const int64_t step = job.channels;
  for (int64_t row = begin; row < end; ++row) {
    job.windows[0] = axes_[0].windows.data() + row / height % depth;
    job.windows[1] = axes_[1].windows.data() + row % height;
    const float* image = static_cast<const float*>(input) +
                         row / (height * depth) * image_stride_;
    float* out =
        static_cast<float*>(output) + row * axes_[2].places() * channels_;
    for (int64_t c = 0; c < channels_; c += step) {
      // The last block may take channels of the one before again.
      const int64_t first = std::min(c, channels_ - step);
      job.input = image + first;
      job.output = out + first;
      pool_block(job);
    }
  }
}

}  // namespace fxjit::kernels
