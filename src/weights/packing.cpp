#include "src/weights/packing.h"

#include "src/support/memory/aligned_block.h"
#include "src/tensor/tensor_memory.h"
#include "src/weights/panels.h"
#include "src/weights/winograd.h"

namespace fxjit::weights {
namespace {

// A tile loop fetches ahead of what it reads; the fetch must stay within
// mapped memory only for tidiness, it cannot fault.
constexpr size_t kAlignment = support::AlignedBlock::kAlignment;

int64_t bytes_of(const Weight& weight, CpuLevel level) {
  if (weight.spec.winograd_tile) {
    const Tensor& filter = weight.pieces.front();
    return 4 *
           winograd_elements(winograd_panels(filter.size(0),
                                             weight.spec.winograd_tile, level),
                             filter.size(1));
  }
  const auto matrices =
      static_cast<int64_t>(weight.spec.batched ? weight.pieces.size() : 1);
  return matrices * packed_bytes(weight.coding.format, weight.spec.depth,
                                 weight.spec.columns,
                                 tile_shape(level).width());
}

PackSource source_of(const Tensor& t) {
  return {static_cast<const float*>(t.data()), t.strides()[0], t.strides()[1],
          t.sizes()[1]};
}

Tensor numbers_of(const Tensor& t) { return for_one_reading(t).to(DType::f32); }

void pack_filter(const Weight& weight, CpuLevel level, float* out) {
  const Tensor filter = numbers_of(weight.pieces.front());
  const Dims& strides = filter.strides();
  pack_winograd({static_cast<const float*>(filter.data()),
                 filter.size(0),
                 filter.size(1),
                 {strides[0], strides[1], strides[2], strides[3]}},
                weight.spec.winograd_tile, level, out);
}

}  // namespace

std::string Weight::key() const {
  std::string key;
  if (coding.format != Format::f32)
    key = std::string(format_name(coding.format)) + " ";
  if (spec.winograd_tile)
    key += "winograd " + std::to_string(spec.winograd_tile) + " ";
  if (spec.batched) key += "batch ";
  for (const Tensor& piece : pieces) key += memory_key(piece);
  return key;
}

Weight weight_of(const PackSpec& spec, const std::vector<Tensor>& constants) {
  Weight weight{spec, {}, {}};
  for (const PackPiece& piece : spec.pieces)
    weight.pieces.push_back(view_of(piece, constants));
  return weight;
}

size_t padded_bytes(const Weight& weight, CpuLevel level) {
  const auto bytes = static_cast<size_t>(bytes_of(weight, level));
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::vector<PackSource> sources_of(const Weight& weight,
                                   std::vector<Tensor>& kept) {
  std::vector<PackSource> sources;
  for (const Tensor& piece : weight.pieces) {
    kept.push_back(numbers_of(piece));
    sources.push_back(source_of(kept.back()));
  }
  return sources;
}

bool pack_weight(const Weight& weight, CpuLevel level, std::byte* out) {
  auto* floats = reinterpret_cast<float*>(out);
  if (weight.spec.winograd_tile) {
    pack_filter(weight, level, floats);
    return false;
  }
  const int64_t width = tile_shape(level).width();
  std::vector<Tensor> kept;
  if (!weight.spec.batched)
    return pack_matrix(sources_of(weight, kept), weight.spec.depth, width,
                       weight.coding, out);
  bool decayed = false;
  for (const Tensor& piece : weight.pieces) {
    const Tensor matrix = numbers_of(piece);
    const PackSource source = source_of(matrix);
    decayed |= pack_panels({&source, 1}, weight.spec.depth, width, floats);
    floats += packed_elements(weight.spec.depth, weight.spec.columns, width);
  }
  return decayed;
}

}  // namespace fxjit::weights
