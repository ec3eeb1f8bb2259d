#include "src/bind/weight_store.h"

#include <algorithm>
#include <set>

#include "src/tensor/tensor_memory.h"

namespace fxjit::bind {
namespace {

using program::WeightFormat;

std::vector<std::weak_ptr<const void>> keepers(const Weight& weight) {
  std::vector<std::weak_ptr<const void>> sources;
  for (const Tensor& piece : weight.pieces) sources.push_back(piece.keeper());
  return sources;
}

bool are_of(const std::vector<std::weak_ptr<const void>>& sources,
            const Weight& weight) {
  if (sources.size() != weight.pieces.size()) return false;
  for (size_t i = 0; i < sources.size(); ++i)
    if (sources[i].lock() != weight.pieces[i].keeper()) return false;
  return true;
}

void keep_each_once(
    std::vector<std::shared_ptr<const support::AlignedBlock>>& blocks) {
  std::sort(blocks.begin(), blocks.end());
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
}

}  // namespace

WeightStore& WeightStore::of_files(CpuLevel level) {
  static auto& stores = *new std::map<CpuLevel, WeightStore>;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  return stores.try_emplace(level, level).first->second;
}

WeightStore& WeightStore::where(const Weight& weight) {
  const bool in_file = std::all_of(
      weight.pieces.begin(), weight.pieces.end(),
      [](const auto& piece) { return piece.storage()->read_only(); });
  return in_file ? of_files(level_) : *this;
}

WeightStore::Packed WeightStore::get(std::span<const Weight> weights,
                                     support::ThreadPool& pool, int threads) {
  WeightStore& files = of_files(level_);
  Weights own, shared;
  for (const Weight& weight : weights)
    (&where(weight) == &files ? shared : own).push_back(&weight);
  const Packed owned = get_here(own, pool, threads);
  const Packed from_files = files.get_here(shared, pool, threads);
  Packed packed;
  auto next_owned = owned.addresses.begin();
  auto next_shared = from_files.addresses.begin();
  for (const Weight& weight : weights)
    packed.addresses.push_back(&where(weight) == &files ? *next_shared++
                                                        : *next_owned++);
  packed.blocks = owned.blocks;
  packed.blocks.insert(packed.blocks.end(), from_files.blocks.begin(),
                       from_files.blocks.end());
  const std::lock_guard lock(mutex_);
  std::erase_if(borrowed_, [](const auto& block) { return block.expired(); });
  borrowed_.insert(borrowed_.end(), from_files.blocks.begin(),
                   from_files.blocks.end());
  return packed;
}

WeightStore::Packed WeightStore::get_here(const Weights& weights,
                                          support::ThreadPool& pool,
                                          int threads) {
  const std::lock_guard lock(mutex_);
  Packed packed;
  Weights fresh;
  std::set<std::string> seen;
  for (const Weight* weight : weights) {
    const std::string key = weight->key();
    if (!seen.insert(key).second) continue;
    Entry& entry = entries_[key];
    auto block = entry.block.lock();
    if (block && are_of(entry.sources, *weight))
      packed.blocks.push_back(std::move(block));
    else
      fresh.push_back(weight);
  }
  if (!fresh.empty()) pack(fresh, pool, threads, packed);
  for (const Weight* weight : weights)
    packed.addresses.push_back(entries_.at(weight->key()).address);
  keep_each_once(packed.blocks);
  forget_freed();
  return packed;
}

void WeightStore::forget_freed() {
  std::erase_if(entries_,
                [](const auto& entry) { return entry.second.block.expired(); });
  std::erase_if(codings_, [](const auto& entry) {
    const Sources& sources = entry.second->sources;
    return std::any_of(sources.begin(), sources.end(),
                       [](const auto& source) { return source.expired(); });
  });
}

// All in one block, in order.
void WeightStore::pack(const Weights& fresh, support::ThreadPool& pool,
                       int threads, Packed& packed) {
  std::vector<size_t> offsets;
  size_t bytes = 0;
  for (const Weight* weight : fresh) {
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
          pack_weight(*fresh[at], level_, base + offsets[at]);
          for (const Tensor& piece : fresh[at]->pieces) release_pages(piece);
        }
      },
      threads);
  for (size_t i = 0; i < fresh.size(); ++i) {
    entries_[fresh[i]->key()] = {keepers(*fresh[i]), block, base + offsets[i]};
  }
  packed.blocks.push_back(block);
}

// Reads the whole weight, so not under the store's lock.
program::WeightCoding WeightStore::survey(
    const Weight& weight, const std::vector<WeightFormat>& formats) {
  std::string key = weight.key();
  for (const WeightFormat format : formats)
    key += std::string(" ") + program::weight_format_name(format);
  std::shared_ptr<Coding> coding;
  {
    std::lock_guard lock(mutex_);
    std::shared_ptr<Coding>& known = codings_[key];
    if (!known || !are_of(known->sources, weight)) {
      known = std::make_shared<Coding>();
      known->sources = keepers(weight);
    }
    coding = known;
  }
  std::lock_guard lock(coding->mutex);
  if (!coding->found) {
    std::vector<Tensor> kept;
    coding->found = program::find_coding(sources_of(weight, kept),
                                         weight.spec.depth, formats);
  }
  return *coding->found;
}

bool WeightStore::is_kept_plain(const Weight& weight) const {
  std::lock_guard lock(mutex_);
  const auto plain = entries_.find(weight.key());
  return plain != entries_.end() && !plain->second.block.expired() &&
         are_of(plain->second.sources, weight);
}

program::WeightCoding WeightStore::coding(const Weight& weight) {
  if (WeightStore& store = where(weight); &store != this)
    return store.coding(weight);
  std::vector<WeightFormat> formats = weight.spec.formats;
  if (is_kept_plain(weight)) std::erase_if(formats, program::is_paired);
  return survey(weight, formats);
}

size_t WeightStore::bytes() const {
  std::lock_guard lock(mutex_);
  std::set<std::shared_ptr<const support::AlignedBlock>> blocks;
  for (const auto& [key, entry] : entries_)
    if (auto block = entry.block.lock()) blocks.insert(std::move(block));
  for (const auto& borrowed : borrowed_)
    if (auto block = borrowed.lock()) blocks.insert(std::move(block));
  size_t total = 0;
  for (const auto& block : blocks) total += block->size();
  return total;
}

}  // namespace fxjit::bind
