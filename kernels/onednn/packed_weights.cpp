#include "kernels/onednn/packed_weights.h"

#include <map>
#include <mutex>

namespace fxjit::kernels::onednn {
namespace {

using Key = std::pair<const void*, ShapeKey>;  // First element, form.

struct Registry {
  std::mutex mutex;
  std::map<Key, std::weak_ptr<const PackedWeights>> entries;

  static Registry& shared() {
    static auto* registry = new Registry;
    return *registry;
  }

  void drop_dead() {
    std::erase_if(entries,
                  [](const auto& entry) { return entry.second.expired(); });
  }
};

void release_pages(const Tensor& weight) {
  Storage& storage = *weight.storage();
  if (!storage.release_pages || !weight.is_contiguous()) return;
  const auto* first = static_cast<const std::byte*>(weight.data());
  storage.release_pages(
      static_cast<size_t>(first - storage.data()),
      static_cast<size_t>(weight.numel()) * weight.item_size());
}

}  // namespace

std::shared_ptr<const PackedWeights> PackedWeights::get(
    const Tensor& weight, const ShapeKey& form, size_t bytes,
    const std::function<void(const void* weight, std::byte* packed)>& pack) {
  Registry& registry = Registry::shared();
  std::lock_guard lock(registry.mutex);
  std::weak_ptr<const PackedWeights>& entry =
      registry.entries[{weight.data(), form}];
  if (auto known = entry.lock()) return known;
  std::shared_ptr<PackedWeights> made(new PackedWeights(weight, bytes));
  pack(weight.data(), made->block_.data());
  release_pages(weight);
  entry = made;
  registry.drop_dead();
  return made;
}

}  // namespace fxjit::kernels::onednn
