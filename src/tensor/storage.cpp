#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include "fxjit/error.h"
#include "fxjit/tensor.h"
#include "src/support/memory/memory_limit.h"

namespace fxjit {
namespace {

constexpr size_t kAlignmentBytes = 64;  // A cache line; an AVX-512 vector.

std::byte* allocate_bytes(size_t bytes) {
  support::check_memory(bytes);
  const size_t rounded =
      (bytes + kAlignmentBytes - 1) / kAlignmentBytes * kAlignmentBytes;
  // Never empty, so that data() is null for meta tensors only.
  void* data =
      std::aligned_alloc(kAlignmentBytes, std::max(rounded, kAlignmentBytes));
  if (!data)
    throw RuntimeError("allocate: no memory for " + std::to_string(bytes) +
                       " bytes");
  return static_cast<std::byte*>(data);
}

}  // namespace

std::shared_ptr<Storage> Storage::allocate(size_t bytes) {
  auto storage = std::make_shared<Storage>(Key());
  storage->data_ = allocate_bytes(bytes);
  storage->bytes_ = bytes;
  storage->owned_ = true;
  return storage;
}

std::shared_ptr<Storage> Storage::borrow(void* data, size_t bytes,
                                         std::shared_ptr<void> owner,
                                         bool read_only) {
  auto storage = std::make_shared<Storage>(Key());
  storage->data_ = static_cast<std::byte*>(data);
  storage->bytes_ = bytes;
  storage->owner_ = std::move(owner);
  storage->read_only_ = read_only;
  return storage;
}

std::shared_ptr<Storage> Storage::deferred(
    size_t bytes, std::function<void(std::byte*)> make) {
  auto storage = std::make_shared<Storage>(Key());
  storage->bytes_ = bytes;
  storage->make_ = std::move(make);
  storage->read_only_ = true;
  return storage;
}

std::byte* Storage::made() const {
  std::unique_ptr<std::byte, decltype(&std::free)> fresh(allocate_bytes(bytes_),
                                                         &std::free);
  make_(fresh.get());
  // Another thread's bytes, when it was faster, are the same.
  std::byte* first = nullptr;
  if (!data_.compare_exchange_strong(first, fresh.get())) return first;
  return fresh.release();
}

const void* Storage::identity() const {
  // What others may write between two borrowings is not the same.
  const bool same_as_memory = !make_ && (owned_ || read_only_);
  return same_as_memory ? data_.load() : static_cast<const void*>(this);
}

Storage::~Storage() {
  if (owned_ || make_) std::free(data_);
}

}  // namespace fxjit
