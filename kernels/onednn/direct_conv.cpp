// Direct convolutions: candidates of layouts in order of expected speed, the
// first for which oneDNN has a fast implementation, and copies around it.
#include <algorithm>

#include "kernels/copies/plane_copy.h"
#include "kernels/onednn/convolution.h"
#include "kernels/onednn/runtime.h"
#include "src/support/rounding.h"

namespace fxjit::kernels::onednn {
namespace {

using support::round_up;

struct Layout {
  Order input, output;
  const char* name;
};

constexpr size_t kWeightAlignment = 64;

bool is_channels_last(const ConvShape& shape) {
  return shape.input_channels() > 1 && shape.input_strides[1] == 1;
}

// Whole blocks, or a depthwise convolution, whose blocks may be padded.
bool fills_blocks(const ConvShape& shape) {
  const int64_t block = channel_block();
  const int64_t in = shape.input_channels() / shape.groups;
  const int64_t out = shape.output_channels() / shape.groups;
  return shape.depthwise() || (in % block == 0 && out % block == 0);
}

// On maps of few places with padding the implementations for channels last
// leave out the padding, which is much of the work.
bool is_small_map(const ConvShape& shape) {
  constexpr int64_t kFewPlaces = 100;
  int64_t places = 1, window = 1;
  for (int i = 0; i < shape.spatial(); ++i) {
    places *= shape.output[2 + i];
    window *= shape.weight[2 + i];
  }
  return window > 1 && places <= kFewPlaces && shape.groups == 1;
}

std::vector<Layout> candidates(const ConvShape& shape) {
  constexpr int64_t kFewChannels = 4;
  constexpr Layout kBlocked{Order::blocked, Order::blocked, "blocked"};
  constexpr Layout kChannelsLast{Order::channels_last, Order::channels_last,
                                 "channels last"};
  std::vector<Layout> layouts;
  const bool few = shape.groups == 1 && !shape.transposed &&
                   shape.input_channels() <= kFewChannels &&
                   !is_channels_last(shape) && !shape.gives_channels_last();
  if (few) layouts.push_back({Order::plain, Order::blocked, "blocked"});
  const bool prefer_last = is_channels_last(shape) ||
                           shape.gives_channels_last() || is_small_map(shape) ||
                           !fills_blocks(shape) ||
                           (shape.transposed && !shape.depthwise());
  if (!prefer_last) layouts.push_back(kBlocked);
  layouts.push_back(kChannelsLast);
  if (prefer_last) layouts.push_back(kBlocked);
  layouts.push_back({Order::plain, Order::plain, "plain"});
  return layouts;
}

Dims grouped(const ConvShape& shape, int64_t groups_entry,
             const std::vector<int64_t>& rest) {
  Dims dims;
  if (shape.groups > 1) dims.push_back(groups_entry);
  for (int64_t entry : rest) dims.push_back(entry);
  return dims;
}

// Output channels, input channels of one group, window.
Dims weight_sizes(const ConvShape& shape) {
  std::vector<int64_t> rest = {shape.output_channels() / shape.groups,
                               shape.input_channels() / shape.groups};
  rest.insert(rest.end(), shape.weight.begin() + 2, shape.weight.end());
  return grouped(shape, shape.groups, rest);
}

PrimitiveDesc describe_conv(const ConvShape& shape, const_dnnl_memory_desc_t in,
                            const_dnnl_memory_desc_t weights,
                            const_dnnl_memory_desc_t out) {
  MemoryDesc bias;
  if (shape.bias)
    bias = describe(shape.dtype, Dims{shape.output_channels()}, Dims{1});
  Dims dilation = shape.dilation;
  for (Size& d : dilation) --d;
  const Attributes attributes = user_scratchpad();
  SingleThread single;
  dnnl_primitive_desc_t made = nullptr;
  const dnnl_status_t status =
      shape.transposed
          ? dnnl_deconvolution_forward_primitive_desc_create(
                &made, engine(), dnnl_forward_inference,
                dnnl_deconvolution_direct, in, weights, bias.get(), out,
                numbers(shape.stride).data(), numbers(dilation).data(),
                numbers(shape.pad_before).data(),
                numbers(shape.pad_after).data(), attributes.get())
          : dnnl_convolution_forward_primitive_desc_create(
                &made, engine(), dnnl_forward_inference,
                dnnl_convolution_direct, in, weights, bias.get(), out,
                numbers(shape.stride).data(), numbers(dilation).data(),
                numbers(shape.pad_before).data(),
                numbers(shape.pad_after).data(), attributes.get());
  // What oneDNN does not take in one layout it may take in another.
  if (status == dnnl_unimplemented || status == dnnl_invalid_arguments)
    return nullptr;
  check(status, "describing a convolution");
  return PrimitiveDesc(made);
}

// Whether [N, C, ...] with these strides is dense with channels last, whatever
// the strides of dims of size 1.
bool lies_channels_last(const Dims& sizes, const Dims& strides) {
  int64_t next = 1;
  for (int i = 0; i < sizes.size(); ++i) {
    const int d = i == 0 ? 1 : i == sizes.size() - 1 ? 0 : sizes.size() - i;
    if (sizes[d] != 1 && strides[d] != next) return false;
    next *= sizes[d];
  }
  return true;
}

// The copy between a tensor of the program and the layout that a primitive
// wants; none where they are the same.
class LayoutCopy {
 public:
  enum class Direction { in, out };

  LayoutCopy(DType dtype, const Dims& sizes, const Dims& strides, Order order,
             const_dnnl_memory_desc_t wanted, Direction direction)
      : direction_(direction) {
    const MemoryDesc own = describe(dtype, sizes, strides);
    if (same_desc(own.get(), wanted) ||
        (order == Order::channels_last && lies_channels_last(sizes, strides)))
      return;
    bytes_ = round_up(dnnl_memory_desc_get_size(wanted), kWeightAlignment);
    const int64_t places = run_of_places(sizes, strides);
    const bool wide = channel_block() == PlaneCopy::kBlock;
    const bool blocked = order == Order::blocked;
    if (dtype == DType::f32 && places > 0 && wide &&
        (blocked || order == Order::channels_last)) {
      planes_ = {sizes[0], sizes[1], places, strides[0], strides[1], blocked};
      return;
    }
    primitive_ = direction == Direction::in ? make_reorder(own.get(), wanted)
                                            : make_reorder(wanted, own.get());
  }

  // Bytes of the tensor in the wanted layout; 0 when there is nothing to copy.
  size_t bytes() const { return bytes_; }
  size_t scratch_bytes() const {
    return primitive_ ? primitive_->scratch_bytes() : 0;
  }
  // `own` is the program's tensor.
  bool run(void* own, std::byte* wanted, std::byte* scratch) const {
    if (bytes_ == 0) return true;
    const bool in = direction_ == Direction::in;
    if (primitive_) {
      void* const pointers[] = {in ? own : wanted, in ? wanted : own};
      return primitive_->run(pointers, scratch);
    }
    auto* planes = static_cast<float*>(own);
    auto* inner = reinterpret_cast<float*>(wanted);
    in ? planes_.to_inner(planes, inner) : planes_.to_planes(inner, planes);
    return true;
  }

 private:
  Direction direction_;
  size_t bytes_ = 0;
  PlaneCopy planes_;
  std::unique_ptr<Primitive> primitive_;
};

class DirectConv : public ConvPrimitive {
 public:
  DirectConv(const ConvShape& shape, Layout layout, PrimitiveDesc desc)
      : conv_(std::move(desc), arguments_of(shape)),
        layout_(layout),
        has_bias_(shape.bias),
        copy_in_(shape.dtype, shape.input, shape.input_strides, layout.input,
                 conv_.desc_of(DNNL_ARG_SRC), LayoutCopy::Direction::in),
        copy_out_(shape.dtype, shape.output, shape.output_strides,
                  layout.output, conv_.desc_of(DNNL_ARG_DST),
                  LayoutCopy::Direction::out) {}

  std::string describe() const override {
    return conv_.implementation() + ", " + layout_.name;
  }
  size_t scratch_bytes() const override {
    return copy_in_.bytes() + copy_out_.bytes() +
           round_up(std::max({conv_.scratch_bytes(), copy_in_.scratch_bytes(),
                              copy_out_.scratch_bytes()}),
                    kWeightAlignment);
  }
  const_dnnl_memory_desc_t packed_weights() const override {
    return conv_.desc_of(DNNL_ARG_WEIGHTS);
  }
  const Primitive* alone() const override {
    return copy_in_.bytes() + copy_out_.bytes() == 0 ? &conv_ : nullptr;
  }

  bool run(const ConvData& data, std::byte* scratch) const override {
    std::byte* in = scratch;
    std::byte* out = in + copy_in_.bytes();
    std::byte* rest = out + copy_out_.bytes();
    void* const own_in = const_cast<void*>(data.input);
    if (!copy_in_.run(own_in, in, rest)) return false;
    void* const pointers[] = {
        copy_in_.bytes() ? in : own_in, const_cast<std::byte*>(data.packed),
        copy_out_.bytes() ? out : data.output, const_cast<void*>(data.bias)};
    return conv_.run({pointers, has_bias_ ? size_t{4} : size_t{3}}, rest) &&
           copy_out_.run(data.output, out, rest);
  }

 private:
  static std::vector<int> arguments_of(const ConvShape& shape) {
    std::vector<int> arguments = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST};
    if (shape.bias) arguments.push_back(DNNL_ARG_BIAS);
    return arguments;
  }

  Primitive conv_;
  Layout layout_;
  bool has_bias_;
  LayoutCopy copy_in_, copy_out_;
};

std::unique_ptr<ConvPrimitive> try_layout(const ConvShape& shape, Layout layout,
                                          const_dnnl_memory_desc_t weights) {
  const MemoryDesc in =
      describe(shape.dtype, shape.input, shape.input_strides, layout.input);
  const MemoryDesc out =
      describe(shape.dtype, shape.output, shape.output_strides, layout.output);
  MemoryDesc any;
  if (!weights)
    any = describe(shape.dtype, weight_sizes(shape), Dims(), Order::any);
  PrimitiveDesc desc =
      describe_conv(shape, in.get(), weights ? weights : any.get(), out.get());
  if (!desc || is_reference(desc.get())) return nullptr;
  // The general product is the last resort, in the plain layout.
  if (is_gemm(desc.get()) && layout.output != Order::plain) return nullptr;
  return std::make_unique<DirectConv>(shape, layout, std::move(desc));
}

}  // namespace

MemoryDesc plain_weights(const ConvShape& shape) {
  const Dims& strides = shape.weight_strides;
  const int64_t first = shape.weight[0] / shape.groups;
  std::vector<int64_t> rest = {strides[0], strides[1]};
  if (shape.transposed) std::swap(rest[0], rest[1]);
  rest.insert(rest.end(), strides.begin() + 2, strides.end());
  return describe(shape.dtype, weight_sizes(shape),
                  grouped(shape, strides[0] * first, rest));
}

std::unique_ptr<ConvPrimitive> make_direct_conv(
    const ConvShape& shape, const_dnnl_memory_desc_t weights) {
  for (const Layout& layout : candidates(shape)) {
    if (weights)
      if (auto made = try_layout(shape, layout, weights)) return made;
    if (auto made = try_layout(shape, layout, nullptr)) return made;
  }
  return nullptr;
}

}  // namespace fxjit::kernels::onednn
