#include "src/weights/store.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "src/tensor/tensor_memory.h"

namespace fxjit::weights {
namespace {

std::vector<std::weak_ptr<const void>> keepers(std::span<const Tensor> pieces) {
  std::vector<std::weak_ptr<const void>> sources;
  for (const Tensor& piece : pieces) sources.push_back(piece.keeper());
  return sources;
}

bool are_of(const std::vector<std::weak_ptr<const void>>& sources,
            std::span<const Tensor> pieces) {
  if (sources.size() != pieces.size()) return false;
  for (size_t i = 0; i < sources.size(); ++i)
    if (sources[i].lock() != pieces[i].keeper()) return false;
  return true;
}

std::string key_of(const Tensor& weight, const OwnFormat& format) {
  std::string key =
      "form of " + std::to_string(static_cast<int>(format.reader));
  for (const int64_t part : format.name) key += " " + std::to_string(part);
  return key + " " + memory_key(weight);
}

void keep_each_once(std::vector<Block>& blocks) {
  std::sort(blocks.begin(), blocks.end());
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
}

}  // namespace

Store& Store::of_files(CpuLevel level) {
  static auto& stores = *new std::map<CpuLevel, Store>;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  return stores.try_emplace(level, level).first->second;
}

Store& Store::where(std::span<const Tensor> pieces) {
  const bool in_file = std::all_of(
      pieces.begin(), pieces.end(),
      [](const auto& piece) { return piece.storage()->read_only(); });
  return in_file ? of_files(level_) : *this;
}

Store::Packed Store::get(std::span<const Weight> weights,
                         support::ThreadPool& pool, int threads) {
  Store& files = of_files(level_);
  Weights own, shared;
  for (const Weight& weight : weights)
    (&where(weight.pieces) == &files ? shared : own).push_back(&weight);
  const Packed owned = get_here(own, pool, threads);
  const Packed from_files = files.get_here(shared, pool, threads);
  Packed packed;
  auto next_owned = owned.addresses.begin();
  auto next_shared = from_files.addresses.begin();
  for (const Weight& weight : weights)
    packed.addresses.push_back(&where(weight.pieces) == &files ? *next_shared++
                                                               : *next_owned++);
  packed.decayed = owned.decayed || from_files.decayed;
  packed.blocks = owned.blocks;
  packed.blocks.insert(packed.blocks.end(), from_files.blocks.begin(),
                       from_files.blocks.end());
  borrow(from_files.blocks);
  return packed;
}

Block Store::get(const Tensor& weight, const OwnFormat& format) {
  Store& store = where({&weight, 1});
  Block block = store.get_here(weight, format);
  if (&store != this) borrow({&block, 1});
  return block;
}

void Store::borrow(std::span<const Block> blocks) {
  const std::lock_guard lock(mutex_);
  std::erase_if(borrowed_, [](const auto& block) { return block.expired(); });
  borrowed_.insert(borrowed_.end(), blocks.begin(), blocks.end());
}

Block Store::find(const Entry& entry, std::span<const Tensor> pieces) {
  Block block = entry.block.lock();
  return block && are_of(entry.sources, pieces) ? block : nullptr;
}

Block Store::get_here(const Tensor& weight, const OwnFormat& format) {
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[key_of(weight, format)];
  if (Block known = find(entry, {&weight, 1})) return known;
  const auto made = std::make_shared<support::AlignedBlock>(format.bytes);
  format.pack(for_one_reading(weight).data(), made->data());
  if (format.floats) {
    auto* const floats = reinterpret_cast<float*>(made->data());
    std::transform(floats, floats + format.bytes / sizeof(float), floats,
                   normal_or_zero);
  }
  release_pages(weight);
  entry = {keepers({&weight, 1}), made, made->data(), false};
  forget_freed();
  return made;
}

Store::Packed Store::get_here(const Weights& weights, support::ThreadPool& pool,
                              int threads) {
  const std::lock_guard lock(mutex_);
  Packed packed;
  std::vector<Entry*> entries;
  std::vector<Fresh> fresh;
  std::unordered_set<const Entry*> seen;
  for (const Weight* weight : weights) {
    Entry& entry = entries_[weight->key()];
    entries.push_back(&entry);
    if (!seen.insert(&entry).second) continue;
    if (Block block = find(entry, weight->pieces))
      packed.blocks.push_back(std::move(block));
    else
      fresh.push_back({weight, &entry});
  }
  if (!fresh.empty()) packed.blocks.push_back(pack(fresh, pool, threads));
  for (const Entry* entry : entries) {
    packed.addresses.push_back(entry->address);
    packed.decayed |= entry->decayed;
  }
  keep_each_once(packed.blocks);
  forget_freed();
  return packed;
}

void Store::forget_freed() {
  std::erase_if(entries_,
                [](const auto& entry) { return entry.second.block.expired(); });
  std::erase_if(surveys_, [](const auto& entry) {
    const Sources& sources = entry.second->sources;
    return std::any_of(sources.begin(), sources.end(),
                       [](const auto& source) { return source.expired(); });
  });
}

// All in one block, in order.
Block Store::pack(const std::vector<Fresh>& fresh, support::ThreadPool& pool,
                  int threads) {
  std::vector<size_t> offsets;
  size_t bytes = 0;
  for (const auto& [weight, entry] : fresh) {
    offsets.push_back(bytes);
    bytes += padded_bytes(*weight, level_);
  }
  const auto block = std::make_shared<support::AlignedBlock>(
      support::AlignedBlock::in_huge_pages(bytes));
  std::byte* base = block->data();
  std::vector<uint8_t> decayed(fresh.size());
  pool.parallel_for(
      static_cast<int64_t>(fresh.size()),
      [&](int64_t begin, int64_t end, int) {
        for (int64_t i = begin; i < end; ++i) {
          const auto at = static_cast<size_t>(i);
          const Weight& weight = *fresh[at].weight;
          decayed[at] = pack_weight(weight, level_, base + offsets[at]);
          for (const Tensor& piece : weight.pieces) release_pages(piece);
        }
      },
      threads);
  for (size_t i = 0; i < fresh.size(); ++i)
    *fresh[i].entry = {keepers(fresh[i].weight->pieces), block,
                       base + offsets[i], decayed[i] != 0};
  return block;
}

Coding Store::find(const Weight& weight,
                   const std::vector<Format>& formats) const {
  if (weight.spec.codes.block > 0) return find_block_coding(weight, level_);
  if (!formats.empty() && is_quads(formats.front()))
    return find_quad_coding(weight, formats);
  std::vector<Tensor> kept;
  return find_coding(sources_of(weight, kept), weight.spec.depth, formats);
}

// Reads the whole weight, so not under the store's lock.
Coding Store::survey(const Weight& weight, std::string key,
                     const std::vector<Format>& formats) {
  for (const Format format : formats)
    key += std::string(" ") + format_name(format);
  std::shared_ptr<Survey> coding;
  {
    std::lock_guard lock(mutex_);
    std::shared_ptr<Survey>& known = surveys_[key];
    if (!known || !are_of(known->sources, weight.pieces)) {
      known = std::make_shared<Survey>();
      known->sources = keepers(weight.pieces);
    }
    coding = known;
  }
  std::lock_guard lock(coding->mutex);
  if (!coding->found) {
    coding->found = find(weight, formats);
    for (const Tensor& piece : weight.pieces) release_pages(piece);
  }
  return *coding->found;
}

bool Store::is_kept(Weight weight, Format format) const {
  weight.coding.format = format;
  std::lock_guard lock(mutex_);
  const auto known = entries_.find(weight.key());
  return known != entries_.end() && find(known->second, weight.pieces);
}

Coding Store::coding(const Weight& weight) {
  if (Store& store = where(weight.pieces); &store != this)
    return store.coding(weight);
  std::vector<Format> formats = weight.spec.formats;
  if (is_kept(weight, Format::f32)) std::erase_if(formats, is_paired);
  if (std::ranges::any_of(formats, [&](Format format) {
        return quad_group(format) > 0 && is_kept(weight, format);
      }))
    std::erase(formats, Format::quads);
  return survey(weight, weight.key(), formats);
}

size_t Store::bytes() const {
  std::lock_guard lock(mutex_);
  std::set<Block> blocks;
  for (const auto& [key, entry] : entries_)
    if (auto block = entry.block.lock()) blocks.insert(std::move(block));
  for (const auto& borrowed : borrowed_)
    if (auto block = borrowed.lock()) blocks.insert(std::move(block));
  size_t total = 0;
  for (const auto& block : blocks) total += block->size();
  return total;
}

}  // namespace fxjit::weights
