#include "python/shared_weights.h"

#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "python/tensors.h"
#include "python/weight_check.h"
#include "src/support/memory/clean_pages.h"

namespace fxjit::python {
namespace {

namespace nb = nanobind;

// Where a storage lies, and what WeightCheck sees of the tensor.
using Key = std::tuple<const std::byte*, size_t, int64_t, uint64_t>;

// Guarded by the interpreter's lock. Stays until the process ends.
std::map<Key, std::weak_ptr<Storage>>& shared() {
  static auto* const all = new std::map<Key, std::weak_ptr<Storage>>;
  return *all;
}

std::shared_ptr<Storage> shared_storage(const std::shared_ptr<Storage>& own,
                                        const WeightCheck::Mark& mark) {
  std::byte* const data = own->data();
  const Key key{data, own->bytes(), mark.version, mark.word};
  std::erase_if(shared(), [](const auto& one) { return one.second.expired(); });
  if (const auto found = shared().find(key); found != shared().end())
    if (auto known = found->second.lock()) return known;
  auto storage = Storage::borrow(data, own->bytes(), own, /*read_only=*/true);
  storage->release_pages = [data](size_t offset, size_t bytes) {
    support::release_clean_pages(data + offset, bytes);
  };
  shared()[key] = storage;
  return storage;
}

}  // namespace

Tensor weight_in_file(nb::handle tensor, const char* where) {
  const Tensor own = tensor_of(tensor, where, Extent::storage);
  if (own.numel() == 0) return own;
  return Tensor::view(
      shared_storage(own.storage(), WeightCheck::mark_of(tensor)), own.sizes(),
      own.dtype(), own.strides(), own.offset());
}

void forget_shared_weights() { shared().clear(); }

}  // namespace fxjit::python
