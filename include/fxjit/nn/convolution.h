// Convolutions over [N, C, ...] or [C, ...].
#pragma once

#include <cstdint>
#include <string>

#include "fxjit/nn/layer.h"

namespace fxjit::nn {

// One int for all spatial dims, or a tuple of one int per dim.
struct ConvOptions {
  Value stride = 1;
  Value padding = 0;  // Also "same" or "valid".
  Value dilation = 1;
  int64_t groups = 1;
  bool bias = true;
  Value output_padding = 0;  // Of transposed convolutions.
};

// State of all convolutions. `kernel_size`, `stride`, ... are tuples here.
class ConvBase : public LeafModule {
 public:
  ConvBase(int spatial_dims, bool transposed, int64_t in_channels,
           int64_t out_channels, const Value& kernel_size,
           const ConvOptions& options);
  Value forward(Value input);
  std::string extra_repr() const override;
  // torch prints padding='same' without quotes.
  std::string constructor_text() const override;

  const int64_t in_channels, out_channels, groups;
  const Value kernel_size, stride, padding, dilation, output_padding;
  Parameter weight, bias;

 private:
  const bool transposed_;
  const std::string function_;
};

class Conv1d : public Custom<Conv1d, ConvBase> {
 public:
  Conv1d(int64_t in_channels, int64_t out_channels, const Value& kernel_size,
         const ConvOptions& options = {})
      : Custom(1, false, in_channels, out_channels, kernel_size,
               options) {}
};

class Conv2d : public Custom<Conv2d, ConvBase> {
 public:
  Conv2d(int64_t in_channels, int64_t out_channels, const Value& kernel_size,
         const ConvOptions& options = {})
      : Custom(2, false, in_channels, out_channels, kernel_size,
               options) {}
};

class Conv3d : public Custom<Conv3d, ConvBase> {
 public:
  Conv3d(int64_t in_channels, int64_t out_channels, const Value& kernel_size,
         const ConvOptions& options = {})
      : Custom(3, false, in_channels, out_channels, kernel_size,
               options) {}
};

class ConvTranspose1d : public Custom<ConvTranspose1d, ConvBase> {
 public:
  ConvTranspose1d(int64_t in_channels, int64_t out_channels,
                  const Value& kernel_size, const ConvOptions& options = {})
      : Custom(1, true, in_channels, out_channels,
               kernel_size, options) {}
};

class ConvTranspose2d : public Custom<ConvTranspose2d, ConvBase> {
 public:
  ConvTranspose2d(int64_t in_channels, int64_t out_channels,
                  const Value& kernel_size, const ConvOptions& options = {})
      : Custom(2, true, in_channels, out_channels,
               kernel_size, options) {}
};

class ConvTranspose3d : public Custom<ConvTranspose3d, ConvBase> {
 public:
  ConvTranspose3d(int64_t in_channels, int64_t out_channels,
                  const Value& kernel_size, const ConvOptions& options = {})
      : Custom(3, true, in_channels, out_channels,
               kernel_size, options) {}
};

}  // namespace fxjit::nn
