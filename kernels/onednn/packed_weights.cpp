#include "kernels/onednn/packed_weights.h"

#include <map>
#include <mutex>
#include <string>

#include "src/tensor/tensor_memory.h"

namespace fxjit::kernels::onednn {
namespace {

using Key = std::pair<std::string, ShapeKey>;  // Which memory, form.

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

}  // namespace

std::shared_ptr<const PackedWeights> PackedWeights::get(
    const Tensor& weight, const ShapeKey& form, size_t bytes,
    const std::function<void(const void* weight, std::byte* packed)>& pack) {
  Registry& registry = Registry::shared();
  std::lock_guard lock(registry.mutex);
  std::weak_ptr<const PackedWeights>& entry =
      registry.entries[{memory_key(weight), form}];
  if (auto known = entry.lock()) return known;
  std::shared_ptr<PackedWeights> made(new PackedWeights(weight, bytes));
  pack(for_one_reading(weight).data(), made->block_.data());
  release_pages(weight);
  entry = made;
  registry.drop_dead();
  return made;
}

}  // namespace fxjit::kernels::onednn
