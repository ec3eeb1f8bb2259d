// A convolution by oneDNN, cut into independent tasks. The program around it
// keeps plain [N, C, H, W] tensors; oneDNN is far faster on channels in blocks
// or innermost, so a task copies its input and output between the layouts: in
// cache these copies cost 2 to 5 % where the plain layout would cost 40 %.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/convolution/conv_tail.h"
#include "kernels/onednn/conv_shape.h"
#include "kernels/onednn/descriptor.h"
#include "kernels/onednn/primitive.h"
#include "kernels/shape_cache.h"

namespace fxjit::kernels::onednn {

struct ConvData {
  const void* input = nullptr;
  const std::byte* packed = nullptr;
  const void* bias = nullptr;
  void* output = nullptr;
  const ConvTail* tail = nullptr;  // Of outputs with channels last.
};

// Primitives for a slice of one shape.
class ConvPrimitive {
 public:
  virtual ~ConvPrimitive() = default;
  virtual std::string describe() const = 0;
  virtual size_t scratch_bytes() const = 0;
  virtual const_dnnl_memory_desc_t packed_weights() const = 0;
  // Pointers are those of the slice. See Primitive::run.
  virtual bool run(const ConvData& data, std::byte* scratch) const = 0;
  // That which run() calls on input, packed weights, output and bias if any, in
  // this order. Null where it does more than that.
  virtual const Primitive* alone() const { return nullptr; }
};

class Convolution {
 public:
  // Null when oneDNN has no fast implementation. `with_tail`: run() will be
  // given one, so slices are small enough to stay in the cache until then.
  // Throws Failure.
  static std::shared_ptr<const Convolution> make(const ConvShape& shape,
                                                 int threads,
                                                 bool with_tail = false);

  int64_t tasks() const { return static_cast<int64_t>(slices_.size()); }
  // That of the only slice, as ConvPrimitive::alone; null where there are more.
  const Primitive* alone() const {
    return slices_.size() == 1 ? slices_[0].primitive->alone() : nullptr;
  }
  // Whether every slice gives all channels of its places.
  bool gives_places() const;
  size_t scratch_bytes() const { return scratch_bytes_; }
  size_t packed_bytes() const { return packed_bytes_; }
  // The key of the packed weights: equal keys mean equal bytes for equal
  // weights.
  const ShapeKey& packed_key() const { return packed_key_; }
  // "brgconv:avx512_core, channels last".
  std::string describe() const;

  // Throws Failure.
  void pack(const void* weight, std::byte* packed) const;
  // The same in a call: false when oneDNN fails, reported once.
  bool try_pack(const void* weight, std::byte* packed) const;
  // Runs tasks [begin, end); false when oneDNN fails.
  bool run(const ConvData& data, std::byte* scratch, int64_t begin,
           int64_t end) const;

 private:
  struct Slice {
    const ConvPrimitive* primitive;
    int64_t input, bias, output;  // Byte offsets.
    int64_t weight;               // Into the packed weights.
    int64_t places, channels;     // The output's: a run of memory where there
                                  // is work.
  };
  struct Packing {
    MemoryDesc plain;
    const_dnnl_memory_desc_t packed;
    int64_t source;  // Byte offsets.
    int64_t target;
  };

  Convolution() = default;
  bool add(const ConvSlice& slice);
  const ConvPrimitive* primitive_for(const ConvShape& shape);
  int64_t packed_place(const ConvSlice& slice, const ConvPrimitive& primitive);

  std::vector<std::pair<ShapeKey, std::unique_ptr<ConvPrimitive>>> primitives_;
  std::vector<Slice> slices_;
  std::vector<Packing> packings_;
  int64_t channels_ = 0;
  size_t scratch_bytes_ = 0;
  size_t packed_bytes_ = 0;
  ShapeKey packed_key_;
};

// The weights of `shape` with output channels first and groups apart, as oneDNN
// wants them.
MemoryDesc plain_weights(const ConvShape& shape);

// Null when there is no fast one. `weights`, unless null, is the layout that an
// earlier slice has packed the weights in, which this one must read too. Throw
// Failure.
std::unique_ptr<ConvPrimitive> make_direct_conv(
    const ConvShape& shape, const_dnnl_memory_desc_t weights);

}  // namespace fxjit::kernels::onednn
