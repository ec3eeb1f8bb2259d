// Copies between planes ([N, C, places], places contiguous) and layouts with
// channels innermost, as fast as the caches allow: around each convolution.
// oneDNN's own copies are several times slower on parts of larger tensors.
#pragma once

#include <cstdint>

namespace fxjit::kernels {

struct PlaneCopy {
  int64_t images = 1, channels = 0, places = 0;
  // Strides of the planes, in elements; the other side is dense.
  int64_t image_stride = 0, channel_stride = 0;
  // How channels lie on the other side: all of them side by side, [N, places,
  // C], or in blocks of kBlock, [N, C / kBlock, places, kBlock], with zeros
  // behind the last channel.
  bool blocked = false;

  static constexpr int64_t kBlock = 16;

  void to_inner(const float* planes, float* inner) const;
  void to_planes(const float* inner, float* planes) const;
};

}  // namespace fxjit::kernels
