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
  PaddingBase(std::string type_name, Signature signature, std::string mode,
              int64_t dims, Value padding);
  std::string extra_repr() const override;

  const Value padding;  // A tuple of two numbers per dim.

 protected:
  Value padded(const Value& input) const;

 private:
  std::string mode_;
};

class ZeroPad1d : public Custom<ZeroPad1d, PaddingBase> {
 public:
  explicit ZeroPad1d(Value padding);
  Value forward(Value input);
};

class ZeroPad2d : public Custom<ZeroPad2d, PaddingBase> {
 public:
  explicit ZeroPad2d(Value padding);
  Value forward(Value input);
};

class ReflectionPad1d : public Custom<ReflectionPad1d, PaddingBase> {
 public:
  explicit ReflectionPad1d(Value padding);
  Value forward(Value input);
};

class ReflectionPad2d : public Custom<ReflectionPad2d, PaddingBase> {
 public:
  explicit ReflectionPad2d(Value padding);
  Value forward(Value input);
};

class ReplicationPad1d : public Custom<ReplicationPad1d, PaddingBase> {
 public:
  explicit ReplicationPad1d(Value padding);
  Value forward(Value input);
};

class ReplicationPad2d : public Custom<ReplicationPad2d, PaddingBase> {
 public:
  explicit ReplicationPad2d(Value padding);
  Value forward(Value input);
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
