#include "src/compile/weight_packing.h"

#include "src/program/packing.h"
#include "src/program/winograd.h"
#include "src/support/aligned_block.h"
#include "src/tensor/tensor_memory.h"

namespace fxjit {
namespace {

using program::PackedWeight;

// A tile loop fetches ahead of what it reads; the fetch must stay within
// mapped memory only for tidiness, it cannot fault.
constexpr size_t kAlignment = support::AlignedBlock::kAlignment;

int64_t bytes_of(const PackedWeight& weight, CpuLevel level) {
  if (weight.winograd_tile) {
    const Tensor& filter = weight.pieces.front().tensor;
    return 4 * program::winograd_elements(
                   program::winograd_panels(filter.size(0),
                                            weight.winograd_tile, level),
                   filter.size(1));
  }
  const auto matrices =
      static_cast<int64_t>(weight.batched ? weight.pieces.size() : 1);
  return matrices * program::packed_bytes(weight.coding.format, weight.depth,
                                          weight.columns,
                                          program::tile_shape(level).width());
}

program::PackSource source_of(const Tensor& t) {
  return {static_cast<const float*>(t.data()), t.strides()[0], t.strides()[1],
          t.sizes()[1]};
}

Tensor numbers_of(const Tensor& t) { return for_one_reading(t).to(DType::f32); }

void pack_filter(const PackedWeight& weight, CpuLevel level, float* out) {
  const Tensor filter = numbers_of(weight.pieces.front().tensor);
  const Dims& strides = filter.strides();
  program::pack_winograd({static_cast<const float*>(filter.data()),
                          filter.size(0),
                          filter.size(1),
                          {strides[0], strides[1], strides[2], strides[3]}},
                         weight.winograd_tile, level, out);
}

}  // namespace

size_t padded_bytes(const PackedWeight& weight, CpuLevel level) {
  const auto bytes = static_cast<size_t>(bytes_of(weight, level));
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::vector<program::PackSource> sources_of(const PackedWeight& weight,
                                            std::vector<Tensor>& kept) {
  std::vector<program::PackSource> sources;
  for (const program::PackPiece& piece : weight.pieces) {
    kept.push_back(numbers_of(piece.tensor));
    sources.push_back(source_of(kept.back()));
  }
  return sources;
}

void pack_weight(const PackedWeight& weight, CpuLevel level, std::byte* out) {
  auto* floats = reinterpret_cast<float*>(out);
  if (weight.winograd_tile) return pack_filter(weight, level, floats);
  const int64_t width = program::tile_shape(level).width();
  std::vector<Tensor> kept;
  if (!weight.batched)
    return program::pack_weights(sources_of(weight, kept), weight.depth, width,
                                 weight.coding, out);
  for (const program::PackPiece& piece : weight.pieces) {
    const Tensor matrix = numbers_of(piece.tensor);
    const program::PackSource source = source_of(matrix);
    program::pack_panels({&source, 1}, weight.depth, width, floats);
    floats += program::packed_elements(weight.depth, weight.columns, width);
  }
}

}  // namespace fxjit
