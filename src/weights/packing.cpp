#include "src/weights/packing.h"

#include <algorithm>

#include "src/support/memory/aligned_block.h"
#include "src/support/rounding.h"
#include "src/tensor/tensor_memory.h"
#include "src/weights/panels.h"
#include "src/weights/quads.h"
#include "src/weights/windows.h"
#include "src/weights/winograd.h"

namespace fxjit::weights {
namespace {

// A tile loop fetches ahead of what it reads; the fetch must stay within
// mapped memory only for tidiness, it cannot fault.
constexpr size_t kAlignment = support::AlignedBlock::kAlignment;

int64_t bytes_of(const Weight& weight, CpuLevel level) {
  if (weight.spec.winograd_tile) {
    const Tensor& filter = weight.pieces.front();
    return 4 * winograd_elements(
                   winograd_panels(filter.size(0), weight.spec.winograd_tile,
                                   level),
                   filter.size(1) / winograd_word_channels(filter.dtype()));
  }
  if (weight.spec.windows.used) {
    const Tensor& filters = weight.pieces.front();
    const int64_t results = filters.size(0);
    const int64_t taps = filters.numel() / std::max<int64_t>(1, results);
    return 4 * window_elements(results, taps, weight.spec.windows);
  }
  if (weight.spec.codes.block > 0)
    return support::ceil_div(weight.spec.columns,
                             register_tile(level).width()) *
           weight.coding.blocks.blocks.panel_bytes(
               weight.spec.depth, register_tile(level).width());
  if (is_quads(weight.coding.format))
    return QuadLayout(weight.spec.depth, weight.spec.columns,
                      weight.coding.format, weight.coding.fixes)
        .bytes;
  const auto matrices =
      static_cast<int64_t>(weight.spec.batched ? weight.pieces.size() : 1);
  return matrices * packed_bytes(weight.coding.format, weight.spec.depth,
                                 weight.spec.columns,
                                 register_tile(level).width());
}

ByteMatrix byte_matrix(const Tensor& t) {
  return {static_cast<const uint8_t*>(t.data()),
          t.dtype() == DType::u8,
          t.size(0),
          t.size(1),
          t.stride(0),
          t.stride(1)};
}

// Of a group of quads, in instructions of a vector: products, sums in 16 bits,
// those in 32 bits; a fix is a quad of its own. Weights that are not clipped
// take signs of the rows, which fill places where others wait.
double cost_of(int group, int64_t quads, int64_t fixes) {
  constexpr double kProduct = 1, kShortSum = 1, kWiden = 1, kSum = 1,
                   kSign = 0.6;
  if (group == 0)
    return (kProduct + kSign + kWiden + kSum) * static_cast<double>(quads);
  const double each =
      kProduct + kShortSum * (group - 1) / group + (kWiden + kSum) / group;
  return each * static_cast<double>(quads) +
         (kProduct + kWiden + kSum) * static_cast<double>(fixes);
}

CodeMatrix code_matrix(const Weight& weight) {
  const auto piece = [&](size_t i) {
    return i < weight.pieces.size() ? for_one_reading(weight.pieces[i])
                                    : Tensor();
  };
  return {weight.spec.codes, piece(0),          piece(1),
          piece(2),          weight.spec.depth, weight.spec.columns};
}

PackSource source_of(const Tensor& t) {
  return {static_cast<const float*>(t.data()), t.strides()[0], t.strides()[1],
          t.sizes()[1]};
}

Tensor numbers_of(const Tensor& t) { return for_one_reading(t).to(DType::f32); }

void pack_filters(const Weight& weight, float* out) {
  const Tensor filters = numbers_of(weight.pieces.front()).contiguous();
  pack_windows({filters.data_as<float>(), size_t(filters.numel())},
               filters.size(0), weight.spec.windows, out);
}

template <typename T>
WinogradWeight<T> filter_of(const Tensor& t) {
  const Dims& strides = t.strides();
  return {static_cast<const T*>(t.data()),
          t.size(0),
          t.size(1),
          {strides[0], strides[1], strides[2], strides[3]}};
}

void pack_filter(const Weight& weight, CpuLevel level, std::byte* out) {
  const Tensor& filter = weight.pieces.front();
  if (filter.dtype() == DType::i8)
    pack_winograd(filter_of<int8_t>(for_one_reading(filter)), level,
                  reinterpret_cast<int16_t*>(out));
  else
    pack_winograd(filter_of<float>(numbers_of(filter)),
                  weight.spec.winograd_tile, level,
                  reinterpret_cast<float*>(out));
}

}  // namespace

std::string Weight::key() const {
  std::string key;
  if (coding.format != Format::f32)
    key = std::string(format_name(coding.format)) + " ";
  if (spec.winograd_tile)
    key += "winograd " + std::to_string(spec.winograd_tile) + " ";
  if (spec.windows.used)
    key += "windows " + std::to_string(spec.windows.lanes) + " ";
  if (spec.batched) key += "batch ";
  if (const StoredCodes& codes = spec.codes; codes.block > 0)
    key += std::to_string(codes.block) + " " + std::to_string(codes.bits) +
           (codes.by_column ? " columns " : " ");
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

Coding find_block_coding(const Weight& weight, CpuLevel level) {
  return {Format::blocks,
          0,
          {},
          0,
          find_blocks(code_matrix(weight), level != CpuLevel::sse41)};
}

Coding find_quad_coding(const Weight& weight, std::span<const Format> formats) {
  if (quad_group(formats.front()) == 0)
    return {formats.front(), 0, {}, 0, {}};  // Nothing is clipped.
  const Tensor numbers = for_one_reading(weight.pieces.front());
  const ByteMatrix matrix = byte_matrix(numbers);
  const QuadLayout layout(matrix.depth, matrix.columns);
  const int64_t quads = layout.quads * layout.groups * kQuadColumns;
  Coding best;
  double least = 0;
  for (const Format format : formats) {
    const int group = quad_group(format);
    const int64_t fixes = group > 0 ? count_fixes(matrix, group) : 0;
    const double cost = cost_of(group, quads, fixes * kQuadColumns);
    if (best.format == Format::f32 || cost < least)
      best = {format, 0, {}, fixes, {}}, least = cost;
  }
  return best;
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
    pack_filter(weight, level, out);
    return false;
  }
  if (weight.spec.windows.used) {
    pack_filters(weight, floats);
    return false;
  }
  if (weight.coding.format == Format::blocks) {
    pack_blocks(code_matrix(weight), weight.coding.blocks,
                register_tile(level).width(), out);
    return false;
  }
  if (is_quads(weight.coding.format)) {
    const Tensor numbers = for_one_reading(weight.pieces.front());
    pack_quads(byte_matrix(numbers), weight.coding.format, out);
    return false;
  }
  const int64_t width = register_tile(level).width();
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
