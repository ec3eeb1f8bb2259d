#include "python/borrowed.h"

#include <unordered_map>
#include <utility>

namespace fxjit::python {
namespace {

namespace nb = nanobind;

// Guarded by the interpreter's lock. Stays until the process ends, as threads
// may free tensors until then.
std::unordered_map<const Storage*, nb::handle>& owners() {
  static auto* const all = new std::unordered_map<const Storage*, nb::handle>;
  return *all;
}

struct Kept {
  nb::object owner;
  const Storage* storage = nullptr;

  // With the interpreter's lock, whichever thread is the last.
  static void release(void* kept) {
    const nb::gil_scoped_acquire lock;
    auto* const self = static_cast<Kept*>(kept);
    owners().erase(self->storage);
    delete self;
  }
};

}  // namespace

std::shared_ptr<Storage> borrow_from(nb::object owner, void* data,
                                     size_t bytes) {
  auto* const kept = new Kept{std::move(owner)};
  auto storage =
      Storage::borrow(data, bytes, std::shared_ptr<void>(kept, Kept::release));
  kept->storage = storage.get();
  owners()[storage.get()] = kept->owner;
  return storage;
}

nb::handle owner_of(const Storage& storage) {
  const auto found = owners().find(&storage);
  return found == owners().end() ? nb::handle() : found->second;
}

}  // namespace fxjit::python
