#include "src/compile/weight_store.h"

#include <algorithm>
#include <set>

#include "src/program/packing.h"
#include "src/program/winograd.h"

namespace fxjit {
namespace {

using program::PackedWeight;

// A tile loop fetches ahead of what it reads; the fetch must stay within
// mapped memory only for tidiness, it cannot fault.
constexpr size_t kAlignFloats = 16;

int64_t elements_of(const PackedWeight& weight, CpuLevel level) {
  if (weight.winograd_tile) {
    const Tensor& filter = weight.pieces.front().tensor;
    return program::winograd_elements(
        program::winograd_panels(filter.size(0), weight.winograd_tile, level),
        filter.size(1));
  }
  const auto matrices =
      static_cast<int64_t>(weight.batched ? weight.pieces.size() : 1);
  return matrices *
         program::packed_elements(weight.depth, weight.columns,
                                  program::tile_shape(level).width());
}

size_t padded_elements(const PackedWeight& weight, CpuLevel level) {
  const auto elements = static_cast<size_t>(elements_of(weight, level));
  return (elements + kAlignFloats - 1) / kAlignFloats * kAlignFloats;
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

void pack(const PackedWeight& weight, CpuLevel level, float* out) {
  if (weight.winograd_tile) return pack_filter(weight, level, out);
  const int64_t width = program::tile_shape(level).width();
  std::vector<Tensor> kept;  // Half types are packed as f32.
  std::vector<program::PackSource> sources;
  const int64_t matrix =
      program::packed_elements(weight.depth, weight.columns, width);
  for (const program::PackPiece& piece : weight.pieces) {
    kept.push_back(piece.tensor.to(DType::f32));
    sources.push_back(source_of(kept.back()));
    if (!weight.batched) continue;
    program::pack_panels(sources, weight.depth, width, out);
    out += matrix;
    sources.clear();
    kept.clear();
  }
  if (!weight.batched)
    program::pack_panels(sources, weight.depth, width, out);
}

void release_pages(const PackedWeight& weight) {
  for (const program::PackPiece& piece : weight.pieces) {
    const Tensor& t = piece.tensor;
    if (!t.storage()->release_pages) continue;
    const auto* first = static_cast<const std::byte*>(t.data());
    t.storage()->release_pages(
        static_cast<size_t>(first - t.storage()->data()),
        static_cast<size_t>(t.numel()) * t.item_size());
  }
}

}  // namespace

bool WeightStore::Entry::is_of(const PackedWeight& weight) const {
  if (sources.size() != weight.pieces.size()) return false;
  for (size_t i = 0; i < sources.size(); ++i)
    if (sources[i].lock() != weight.pieces[i].tensor.storage()) return false;
  return true;
}

WeightStore::Packed WeightStore::get(const std::vector<PackedWeight>& weights,
                                     support::ThreadPool& pool, int threads) {
  std::lock_guard lock(mutex_);
  Packed packed;
  std::vector<const PackedWeight*> fresh;
  for (const PackedWeight& weight : weights) {
    Entry& entry = entries_[weight.key];
    auto block = entry.block.lock();
    if (block && entry.is_of(weight))
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
  size_t elements = 0;
  for (const PackedWeight* weight : fresh) {
    offsets.push_back(elements);
    elements += padded_elements(*weight, level_);
  }
  const auto block = std::make_shared<support::AlignedBlock>(
      support::AlignedBlock::in_huge_pages(elements * sizeof(float)));
  auto* base = reinterpret_cast<float*>(block->data());
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
    Entry& entry = entries_[fresh[i]->key];
    entry = {{}, block, base + offsets[i]};
    for (const program::PackPiece& piece : fresh[i]->pieces)
      entry.sources.push_back(piece.tensor.storage());
  }
  packed.blocks.push_back(block);
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
