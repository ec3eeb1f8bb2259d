#include "src/compile/weight_store.h"

#include "src/program/packing.h"

namespace fxjit {
namespace {

using program::PackedWeight;

// A tile loop fetches ahead of what it reads; the fetch must stay within
// mapped memory only for tidiness, it cannot fault.
constexpr size_t kAlignFloats = 16;

size_t padded_elements(const PackedWeight& weight, int64_t width) {
  const auto elements = static_cast<size_t>(
      program::packed_elements(weight.depth, weight.columns, width));
  return (elements + kAlignFloats - 1) / kAlignFloats * kAlignFloats;
}

void pack(const PackedWeight& weight, int64_t width, float* out) {
  std::vector<program::PackSource> sources;
  for (const program::PackPiece& piece : weight.pieces) {
    const Tensor& t = piece.tensor;
    sources.push_back({static_cast<const float*>(t.data()), t.strides()[0],
                       t.strides()[1], t.sizes()[1]});
  }
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

std::vector<const void*> WeightStore::get(
    const std::vector<PackedWeight>& weights, support::ThreadPool& pool,
    int threads) {
  std::lock_guard lock(mutex_);
  const int64_t width = program::tile_shape(level_).width();
  std::vector<const PackedWeight*> fresh;
  std::vector<size_t> offsets;
  size_t elements = 0;
  for (const PackedWeight& weight : weights) {
    if (packed_.contains(weight.key)) continue;
    fresh.push_back(&weight);
    offsets.push_back(elements);
    elements += padded_elements(weight, width);
  }
  if (!fresh.empty()) {
    support::AlignedBlock block(elements * sizeof(float));
    auto* base = reinterpret_cast<float*>(block.data());
    pool.parallel_for(
        static_cast<int64_t>(fresh.size()),
        [&](int64_t begin, int64_t end, int) {
          for (int64_t i = begin; i < end; ++i) {
            const auto at = static_cast<size_t>(i);
            pack(*fresh[at], width, base + offsets[at]);
            release_pages(*fresh[at]);
          }
        },
        threads);
    for (size_t i = 0; i < fresh.size(); ++i)
      packed_[fresh[i]->key] = base + offsets[i];
    blocks_.push_back(std::move(block));
  }
  std::vector<const void*> addresses;
  for (const PackedWeight& weight : weights)
    addresses.push_back(packed_.at(weight.key));
  return addresses;
}

size_t WeightStore::bytes() const {
  std::lock_guard lock(mutex_);
  size_t total = 0;
  for (const support::AlignedBlock& block : blocks_) total += block.size();
  return total;
}

}  // namespace fxjit
