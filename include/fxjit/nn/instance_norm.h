// Instance norms: each channel of each image by its own statistics.
#pragma once

#include "fxjit/nn/normalization.h"

namespace fxjit::nn {

class InstanceNormBase : public BatchNormBase {
 public:
  using BatchNormBase::BatchNormBase;
  Value forward(Value input);
};

// InstanceNorm1d takes [N, C, L] or [C, L], InstanceNorm2d [N, C, H, W] or
// [C, H, W]. They have weight and bias if `affine`; with running statistics,
// eval() uses those.
class InstanceNorm1d : public Custom<InstanceNorm1d, InstanceNormBase> {
 public:
  explicit InstanceNorm1d(int64_t num_features, double eps = 1e-5,
                          double momentum = 0.1, bool affine = false,
                          bool track_running_stats = false)
      : Custom("InstanceNorm", 1, num_features, eps, momentum,
               affine, track_running_stats) {}
};

class InstanceNorm2d : public Custom<InstanceNorm2d, InstanceNormBase> {
 public:
  explicit InstanceNorm2d(int64_t num_features, double eps = 1e-5,
                          double momentum = 0.1, bool affine = false,
                          bool track_running_stats = false)
      : Custom("InstanceNorm", 2, num_features, eps, momentum,
               affine, track_running_stats) {}
};

}  // namespace fxjit::nn
