#include "kernels/onednn/convolution.h"

#include <algorithm>

#include "src/support/rounding.h"

namespace fxjit::kernels::onednn {
namespace {

using support::round_up;

constexpr size_t kAlignment = 64;

}  // namespace

std::shared_ptr<const Convolution> Convolution::make(const ConvShape& shape,
                                                     int threads,
                                                     bool with_tail) {
  // Half of a small second-level cache.
  constexpr int64_t kBandFloats = 128 << 10;
  int64_t bands = with_tail ? int64_t{numel(shape.output)} / kBandFloats : 0;
  bands = (bands + threads - 1) / threads * threads;  // As many for each.
  std::shared_ptr<Convolution> made(new Convolution);
  made->channels_ = shape.output_channels();
  for (const ConvSlice& slice :
       cut_conv(shape, threads, std::max<int64_t>(1, bands)))
    if (!made->add(slice)) return nullptr;
  return made;
}

bool Convolution::add(const ConvSlice& slice) {
  const ConvPrimitive* primitive = primitive_for(slice.shape);
  if (!primitive) return false;
  const auto item = static_cast<int64_t>(dtype_size(slice.shape.dtype));
  const int64_t weight = packed_place(slice, *primitive);
  slices_.push_back({primitive, slice.input * item, slice.bias * item,
                     slice.output * item, weight,
                     numel(slice.shape.output) / slice.shape.output_channels(),
                     slice.shape.output_channels()});
  scratch_bytes_ = std::max(scratch_bytes_, primitive->scratch_bytes());
  return true;
}

const ConvPrimitive* Convolution::primitive_for(const ConvShape& shape) {
  const ShapeKey key = shape.key();
  for (const auto& [known, primitive] : primitives_)
    if (known == key) return primitive.get();
  // Slices by rows share their weights, so they must agree on the form.
  const_dnnl_memory_desc_t weights = nullptr;
  if (!primitives_.empty() && !packings_.empty() &&
      same_desc(packings_.back().plain.get(), plain_weights(shape).get()))
    weights = packings_.back().packed;
  std::unique_ptr<ConvPrimitive> made = make_direct_conv(shape, weights);
  if (!made) return nullptr;
  primitives_.emplace_back(key, std::move(made));
  return primitives_.back().second.get();
}

int64_t Convolution::packed_place(const ConvSlice& slice,
                                  const ConvPrimitive& primitive) {
  const int64_t source =
      slice.weight * static_cast<int64_t>(dtype_size(slice.shape.dtype));
  for (const Packing& known : packings_)
    if (known.source == source &&
        same_desc(known.packed, primitive.packed_weights()))
      return known.target;
  const auto target = static_cast<int64_t>(packed_bytes_);
  packings_.push_back(
      {plain_weights(slice.shape), primitive.packed_weights(), source, target});
  const size_t bytes = round_up(
      dnnl_memory_desc_get_size(primitive.packed_weights()), kAlignment);
  packed_bytes_ += bytes;
  const ShapeKey shape = slice.shape.key();
  packed_key_.insert(packed_key_.end(), {source, static_cast<int64_t>(bytes)});
  packed_key_.insert(packed_key_.end(), shape.begin(), shape.end());
  return target;
}

std::string Convolution::describe() const {
  std::string text = primitives_.front().second->describe();
  if (tasks() > 1) text += ", " + std::to_string(tasks()) + " slices";
  return text;
}

void Convolution::pack(const void* weight, std::byte* packed) const {
  for (const Packing& packing : packings_)
    reorder(packing.plain.get(),
            static_cast<const std::byte*>(weight) + packing.source,
            packing.packed, packed + packing.target);
}

bool Convolution::try_pack(const void* weight, std::byte* packed) const {
  try {
    pack(weight, packed);
    return true;
  } catch (const Failure& failure) {
    warn_once(failure.what());
    return false;
  }
}

bool Convolution::gives_places() const {
  return std::ranges::all_of(
      slices_, [&](const Slice& slice) { return slice.channels == channels_; });
}

bool Convolution::run(const ConvData& data, std::byte* scratch, int64_t begin,
                      int64_t end) const {
  bool good = true;
  for (int64_t i = begin; i < end; ++i) {
    const Slice& slice = slices_[static_cast<size_t>(i)];
    ConvData part;
    part.input = static_cast<const std::byte*>(data.input) + slice.input;
    part.packed = data.packed + slice.weight;
    if (data.bias)
      part.bias = static_cast<const std::byte*>(data.bias) + slice.bias;
    part.output = static_cast<std::byte*>(data.output) + slice.output;
    good = slice.primitive->run(part, scratch) && good;
    if (data.tail)
      data.tail->run(slice.output / int64_t{sizeof(float)} / channels_,
                     slice.places);
  }
  return good;
}

}  // namespace fxjit::kernels::onednn
