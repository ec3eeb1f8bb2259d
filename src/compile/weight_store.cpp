#include "src/compile/weight_store.h"

#include <algorithm>
#include <set>

#include "src/program/packing.h"
#include "src/program/winograd.h"

namespace fxjit {
namespace {

using program::PackedWeight;
using program::WeightFormat;

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

size_t padded_bytes(const PackedWeight& weight, CpuLevel level) {
  const auto bytes = static_cast<size_t>(bytes_of(weight, level));
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

program::PackSource source_of(const Tensor& t) {
  return {static_cast<const float*>(t.data()), t.strides()[0], t.strides()[1],
          t.sizes()[1]};
}

void pack_filter(const PackedWeight& weight, CpuLevel level, float* out) {
  const Tensor& filter = weight.pieces.front().tensor;
  const Dims& strides = filter.strides();
  program::pack_winograd({static_cast<const float*>(filter.data()),
                          filter.size(0),
                          filter.size(1),
                          {strides[0], strides[1], strides[2], strides[3]}},
                         weight.winograd_tile, level, out);
}

// The pieces side by side; half types as f32, which `kept` holds.
std::vector<program::PackSource> sources_of(const PackedWeight& weight,
                                            std::vector<Tensor>& kept) {
  std::vector<program::PackSource> sources;
  for (const program::PackPiece& piece : weight.pieces) {
    kept.push_back(piece.tensor.to(DType::f32));
    sources.push_back(source_of(kept.back()));
  }
  return sources;
}

void pack(const PackedWeight& weight, CpuLevel level, std::byte* out) {
  auto* floats = reinterpret_cast<float*>(out);
  if (weight.winograd_tile) return pack_filter(weight, level, floats);
  const int64_t width = program::tile_shape(level).width();
  std::vector<Tensor> kept;
  if (!weight.batched)
    return program::pack_weights(sources_of(weight, kept), weight.depth, width,
                                 weight.coding, out);
  for (const program::PackPiece& piece : weight.pieces) {
    const Tensor matrix = piece.tensor.to(DType::f32);
    const program::PackSource source = source_of(matrix);
    program::pack_panels({&source, 1}, weight.depth, width, floats);
    floats += program::packed_elements(weight.depth, weight.columns, width);
  }
}

void release_pages(const PackedWeight& weight) {
  for (const program::PackPiece& piece : weight.pieces) {
    const Tensor& t = piece.tensor;
    if (!t.storage()->release_pages) continue;
    const auto* first = static_cast<const std::byte*>(t.data());
    t.storage()->release_pages(static_cast<size_t>(first - t.storage()->data()),
                               static_cast<size_t>(t.numel()) * t.item_size());
  }
}

using Sources = std::vector<std::weak_ptr<Storage>>;

Sources storages(const PackedWeight& weight) {
  Sources sources;
  for (const program::PackPiece& piece : weight.pieces)
    sources.push_back(piece.tensor.storage());
  return sources;
}

bool are_of(const Sources& sources, const PackedWeight& weight) {
  if (sources.size() != weight.pieces.size()) return false;
  for (size_t i = 0; i < sources.size(); ++i)
    if (sources[i].lock() != weight.pieces[i].tensor.storage()) return false;
  return true;
}

}  // namespace

WeightStore::Packed WeightStore::get(const std::vector<PackedWeight>& weights,
                                     support::ThreadPool& pool, int threads) {
  std::lock_guard lock(mutex_);
  Packed packed;
  std::vector<const PackedWeight*> fresh;
  for (const PackedWeight& weight : weights) {
    Entry& entry = entries_[weight.key];
    auto block = entry.block.lock();
    if (block && are_of(entry.sources, weight))
      packed.blocks.push_back(std::move(block));
    else
      fresh.push_back(&weight);
  }
  if (!fresh.empty()) pack(fresh, pool, threads, packed);
  for (const PackedWeight& weight : weights)
    packed.addresses.push_back(entries_.at(weight.key).address);
  std::sort(packed.blocks.begin(), packed.blocks.end());
  packed.blocks.erase(std::unique(packed.blocks.begin(), packed.blocks.end()),
                      packed.blocks.end());
  std::erase_if(entries_,
                [](const auto& entry) { return entry.second.block.expired(); });
  return packed;
}

// All in one block, in order.
void WeightStore::pack(const std::vector<const PackedWeight*>& fresh,
                       support::ThreadPool& pool, int threads, Packed& packed) {
  std::vector<size_t> offsets;
  size_t bytes = 0;
  for (const PackedWeight* weight : fresh) {
    offsets.push_back(bytes);
    bytes += padded_bytes(*weight, level_);
  }
  const auto block = std::make_shared<support::AlignedBlock>(
      support::AlignedBlock::in_huge_pages(bytes));
  std::byte* base = block->data();
  pool.parallel_for(
      static_cast<int64_t>(fresh.size()),
      [&](int64_t begin, int64_t end, int) {
        for (int64_t i = begin; i < end; ++i) {
          const auto at = static_cast<size_t>(i);
          fxjit::pack(*fresh[at], level_, base + offsets[at]);
          release_pages(*fresh[at]);
        }
      },
      threads);
  for (size_t i = 0; i < fresh.size(); ++i) {
    entries_[fresh[i]->key] = {storages(*fresh[i]), block, base + offsets[i]};
  }
  packed.blocks.push_back(block);
}

// Reads the whole weight, so not under the store's lock.
program::WeightCoding WeightStore::survey(
    const PackedWeight& weight, const std::vector<WeightFormat>& formats) {
  std::string key = weight.key;
  for (const WeightFormat format : formats)
    key += std::string(" ") + program::weight_format_name(format);
  std::shared_ptr<Coding> coding;
  {
    std::lock_guard lock(mutex_);
    std::shared_ptr<Coding>& known = codings_[key];
    if (!known || !are_of(known->sources, weight)) {
      known = std::make_shared<Coding>();
      known->sources = storages(weight);
    }
    coding = known;
  }
  std::lock_guard lock(coding->mutex);
  if (!coding->found) {
    std::vector<Tensor> kept;
    coding->found =
        program::find_coding(sources_of(weight, kept), weight.depth, formats);
  }
  return *coding->found;
}

bool WeightStore::is_kept_plain(const PackedWeight& weight) const {
  std::lock_guard lock(mutex_);
  const auto plain = entries_.find(weight.key);
  return plain != entries_.end() && !plain->second.block.expired() &&
         are_of(plain->second.sources, weight);
}

program::WeightCoding WeightStore::coding(const PackedWeight& weight,
                                          int64_t rows, bool may_round) {
  std::vector<WeightFormat> formats;
  const bool plain = is_kept_plain(weight);
  for (const WeightFormat format : {WeightFormat::bf16, WeightFormat::f16,
                                    WeightFormat::fixed24, WeightFormat::f28}) {
    if (rows > program::most_rows(format, level_)) continue;
    if (format == WeightFormat::fixed24 && !may_round) continue;
    if (!plain || !program::is_paired(format)) formats.push_back(format);
  }
  return survey(weight, formats);
}

size_t WeightStore::bytes() const {
  std::lock_guard lock(mutex_);
  std::set<std::shared_ptr<const support::AlignedBlock>> blocks;
  for (const auto& [key, entry] : entries_)
    if (auto block = entry.block.lock()) blocks.insert(std::move(block));
  size_t total = 0;
  for (const auto& block : blocks) total += block->size();
  return total;
}

}  // namespace fxjit
