// Padding of the last dims, and channels to pixels and back.
#pragma once

#include <cstdint>
#include <string>

#include "fxjit/nn/layer.h"

namespace fxjit::nn {

// Elements added before and after the last dims: one int for all sides, or
// (left, right) or (left, right, top, bottom), negative ones cut off.
class PaddingBase : public LeafModule {
 public:
  // `dims` is put behind `type_name`: "ZeroPad" and 2 are ZeroPad2d.
  PaddingBase(const std::string& type_name, std::string mode, int dims,
              const Value& padding);
  Value forward(Value input);
  std::string extra_repr() const override;

  const Value padding;  // A tuple of two numbers per dim.

 private:
  std::string mode_;
};

struct ZeroPad1d : Custom<ZeroPad1d, PaddingBase> {
  explicit ZeroPad1d(const Value& padding)
      : Custom("ZeroPad", "constant", 1, padding) {}
};

struct ZeroPad2d : Custom<ZeroPad2d, PaddingBase> {
  explicit ZeroPad2d(const Value& padding)
      : Custom("ZeroPad", "constant", 2, padding) {}
};

struct ReflectionPad1d : Custom<ReflectionPad1d, PaddingBase> {
  explicit ReflectionPad1d(const Value& padding)
      : Custom("ReflectionPad", "reflect", 1, padding) {}
};

struct ReflectionPad2d : Custom<ReflectionPad2d, PaddingBase> {
  explicit ReflectionPad2d(const Value& padding)
      : Custom("ReflectionPad", "reflect", 2, padding) {}
};

struct ReplicationPad1d : Custom<ReplicationPad1d, PaddingBase> {
  explicit ReplicationPad1d(const Value& padding)
      : Custom("ReplicationPad", "replicate", 1, padding) {}
};

struct ReplicationPad2d : Custom<ReplicationPad2d, PaddingBase> {
  explicit ReplicationPad2d(const Value& padding)
      : Custom("ReplicationPad", "replicate", 2, padding) {}
};

// [.., C * r * r, H, W] to [.., C, H * r, W * r].
class PixelShuffle : public Layer<PixelShuffle> {
 public:
  explicit PixelShuffle(int64_t upscale_factor);
  Value forward(Value input);
  std::string extra_repr() const override;
  const int64_t upscale_factor;
};

// [.., C, H * r, W * r] to [.., C * r * r, H, W].
class PixelUnshuffle : public Layer<PixelUnshuffle> {
 public:
  explicit PixelUnshuffle(int64_t downscale_factor);
  Value forward(Value input);
  std::string extra_repr() const override;
  const int64_t downscale_factor;
};

}  // namespace fxjit::nn
