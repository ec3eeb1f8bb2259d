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
class ConvBase : public LayerBase {
 public:
  ConvBase(const LayerClass& layer, LayerArgs given);
  Value forward(Value input);
  std::string extra_repr() const override;
  // torch prints padding='same' without quotes.
  std::string constructor_text() const override;

 private:
  Value per_dim(const Argument& given) const;
  bool transposed() const;
  const std::string function_;

 public:
  const int64_t in_channels = field("in_channels");
  const int64_t out_channels = field("out_channels");
  const Value kernel_size = per_dim(field("kernel_size"));
  const Value stride = per_dim(field("stride"));
  const Value padding = per_dim(field("padding"));
  const Value dilation = per_dim(field("dilation"));
  const int64_t groups = field("groups");

 private:
  const bool with_bias_ = presence("bias", "bias");

 public:
  const Value output_padding = per_dim(field("output_padding"));
  Parameter weight, bias;
};

// Over as many spatial dims as the name ends in.
template <typename T, Text name, Text function>
class ConvLayer : public TorchLayer<T, name, function, "input", ConvBase> {
 public:
  using ConvLayer::TorchLayer::TorchLayer;
  ConvLayer(int64_t in_channels, int64_t out_channels, const Value& kernel_size,
            const ConvOptions& options = {})
      : ConvLayer::TorchLayer(LayerArgs::of(
            {in_channels, out_channels, kernel_size, options.stride,
             options.padding, options.dilation, options.groups, options.bias,
             options.output_padding})) {}
};

struct Conv1d : ConvLayer<Conv1d, "Conv1d", "torch.conv1d"> {
  using ConvLayer::ConvLayer;
};
struct Conv2d : ConvLayer<Conv2d, "Conv2d", "torch.conv2d"> {
  using ConvLayer::ConvLayer;
};
struct Conv3d : ConvLayer<Conv3d, "Conv3d", "torch.conv3d"> {
  using ConvLayer::ConvLayer;
};
struct ConvTranspose1d
    : ConvLayer<ConvTranspose1d, "ConvTranspose1d", "torch.conv_transpose1d"> {
  using ConvLayer::ConvLayer;
};
struct ConvTranspose2d
    : ConvLayer<ConvTranspose2d, "ConvTranspose2d", "torch.conv_transpose2d"> {
  using ConvLayer::ConvLayer;
};
struct ConvTranspose3d
    : ConvLayer<ConvTranspose3d, "ConvTranspose3d", "torch.conv_transpose3d"> {
  using ConvLayer::ConvLayer;
};

using ConvolutionLayers = LayerList<Conv1d, Conv2d, Conv3d, ConvTranspose1d,
                                    ConvTranspose2d, ConvTranspose3d>;

}  // namespace fxjit::nn
