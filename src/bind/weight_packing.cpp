#include "src/bind/weight_packing.h"

#include "src/program/packing.h"
#include "src/program/planner.h"
#include "src/program/winograd.h"
#include "src/support/aligned_block.h"
#include "src/tensor/tensor_memory.h"

namespace fxjit::bind {
namespace {

// A tile loop fetches ahead of what it reads; the fetch must stay within
// mapped memory only for tidiness, it cannot fault.
constexpr size_t kAlignment = support::AlignedBlock::kAlignment;

int64_t bytes_of(const Weight& weight, CpuLevel level) {
  if (weight.spec.winograd_tile) {
    const Tensor& filter = weight.pieces.front();
    return 4 * program::winograd_elements(
                   program::winograd_panels(filter.size(0),
                                            weight.spec.winograd_tile, level),
                   filter.size(1));
  }
  const auto matrices =
      static_cast<int64_t>(weight.spec.batched ? weight.pieces.size() : 1);
  return matrices * program::packed_bytes(weight.coding.format,
                                          weight.spec.depth,
                                          weight.spec.columns,
                                          program::tile_shape(level).width());
}

program::PackSource source_of(const Tensor& t) {
  return {static_cast<const float*>(t.data()), t.strides()[0], t.strides()[1],
          t.sizes()[1]};
}

Tensor numbers_of(const Tensor& t) { return for_one_reading(t).to(DType::f32); }

void pack_filter(const Weight& weight, CpuLevel level, float* out) {
  const Tensor filter = numbers_of(weight.pieces.front());
  const Dims& strides = filter.strides();
  program::pack_winograd({static_cast<const float*>(filter.data()),
                          filter.size(0),
                          filter.size(1),
                          {strides[0], strides[1], strides[2], strides[3]}},
                         weight.spec.winograd_tile, level, out);
}

}  // namespace

std::string Weight::key() const {
  std::string key;
  if (coding.format != program::WeightFormat::f32)
    key = std::string(program::weight_format_name(coding.format)) + " ";
  if (spec.winograd_tile)
    key += "winograd " + std::to_string(spec.winograd_tile) + " ";
  if (spec.batched) key += "batch ";
  for (const Tensor& piece : pieces) key += memory_key(piece);
  return key;
}

Weight weight_of(const program::PackedWeight& spec,
                 const std::vector<Tensor>& constants) {
  Weight weight{spec, {}, {}};
  for (const program::PackPiece& piece : spec.pieces)
    weight.pieces.push_back(program::view_of(piece, constants));
  return weight;
}

size_t padded_bytes(const Weight& weight, CpuLevel level) {
  const auto bytes = static_cast<size_t>(bytes_of(weight, level));
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::vector<program::PackSource> sources_of(const Weight& weight,
                                            std::vector<Tensor>& kept) {
  std::vector<program::PackSource> sources;
  for (const Tensor& piece : weight.pieces) {
    kept.push_back(numbers_of(piece));
    sources.push_back(source_of(kept.back()));
  }
  return sources;
}

void pack_weight(const Weight& weight, CpuLevel level, std::byte* out) {
  auto* floats = reinterpret_cast<float*>(out);
  if (weight.spec.winograd_tile) return pack_filter(weight, level, floats);
  const int64_t width = program::tile_shape(level).width();
  std::vector<Tensor> kept;
  if (!weight.spec.batched)
    return program::pack_weights(sources_of(weight, kept), weight.spec.depth,
                                 width, weight.coding, out);
  for (const Tensor& piece : weight.pieces) {
    const Tensor matrix = numbers_of(piece);
    const program::PackSource source = source_of(matrix);
    program::pack_panels({&source, 1}, weight.spec.depth, width, floats);
    floats +=
        program::packed_elements(weight.spec.depth, weight.spec.columns, width);
  }
}

}  // namespace fxjit::bind
