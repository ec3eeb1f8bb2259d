#include <cstdlib>
#include <new>

#include "fxjit/error.h"
#include "fxjit/tensor.h"
#include "src/support/memory_limit.h"

namespace fxjit {
namespace {

constexpr size_t kAlignmentBytes = 64;  // A cache line; an AVX-512 vector.

}  // namespace

std::shared_ptr<Storage> Storage::allocate(size_t bytes) {
  auto storage = std::shared_ptr<Storage>(new Storage);
  support::check_memory(bytes);
  const size_t rounded =
      (bytes + kAlignmentBytes - 1) / kAlignmentBytes * kAlignmentBytes;
  // Never empty, so that data() is null for meta tensors only.
  void* data =
      std::aligned_alloc(kAlignmentBytes, std::max(rounded, kAlignmentBytes));
  if (!data)
    throw RuntimeError("allocate: no memory for " + std::to_string(bytes) +
                       " bytes");
  storage->data_ = static_cast<std::byte*>(data);
  storage->bytes_ = bytes;
  storage->owned_ = true;
  return storage;
}

std::shared_ptr<Storage> Storage::borrow(void* data, size_t bytes,
                                         std::shared_ptr<void> owner,
                                         bool read_only) {
  auto storage = std::shared_ptr<Storage>(new Storage);
  storage->data_ = static_cast<std::byte*>(data);
  storage->bytes_ = bytes;
  storage->owner_ = std::move(owner);
  storage->read_only_ = read_only;
  return storage;
}

Storage::~Storage() {
  if (owned_) std::free(data_);
}

}  // namespace fxjit
