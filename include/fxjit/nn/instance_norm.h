// Instance norms: each channel of each image by its own statistics.
#pragma once

#include "fxjit/nn/normalization.h"

namespace fxjit::nn {

// Takes [N, C, L] or [C, L]. It has weight and bias if `affine`; with running
// statistics, eval() uses those.
class InstanceNorm1d : public Custom<InstanceNorm1d, BatchNormBase> {
 public:
  explicit InstanceNorm1d(int64_t num_features, double eps = 1e-5,
                          double momentum = 0.1, bool affine = false,
                          bool track_running_stats = false);
  Value forward(Value input);
};

// Takes [N, C, H, W] or [C, H, W].
class InstanceNorm2d : public Custom<InstanceNorm2d, BatchNormBase> {
 public:
  explicit InstanceNorm2d(int64_t num_features, double eps = 1e-5,
                          double momentum = 0.1, bool affine = false,
                          bool track_running_stats = false);
  Value forward(Value input);
};

}  // namespace fxjit::nn
