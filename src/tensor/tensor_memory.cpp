#include "src/tensor/tensor_memory.h"

#include <bit>
#include <cstdint>
#include <memory>

#include "src/support/memory/aligned_block.h"
#include "src/support/words.h"

namespace fxjit {

std::string memory_key(const Tensor& tensor) {
  constexpr size_t kBytes = 8 * sizeof(int64_t);  // Of matrices.
  using support::append_word;
  std::string key;
  key.reserve(kBytes);
  append_word(key, std::bit_cast<int64_t>(tensor.storage()->identity()));
  append_word(key, tensor.offset());
  append_word(key, static_cast<int64_t>(tensor.dtype()) << 8 | tensor.dim());
  for (const Size size : tensor.sizes()) append_word(key, size);
  for (const Size stride : tensor.strides()) append_word(key, stride);
  return key;
}

Tensor for_one_reading(const Tensor& tensor) {
  const Storage& storage = *tensor.storage();
  if (!storage.is_deferred()) return tensor;
  // Not from the heap, which would keep the largest one's pages.
  const auto block = std::make_shared<support::AlignedBlock>(storage.bytes());
  storage.make_into(block->data());
  return Tensor::view(Storage::borrow(block->data(), storage.bytes(), block),
                      tensor.sizes(), tensor.dtype(), tensor.strides(),
                      tensor.offset());
}

void release_pages(const Tensor& tensor) {
  const auto& release = tensor.storage()->release_pages;
  if (!release) return;
  const size_t item = tensor.item_size();
  release(static_cast<size_t>(tensor.offset()) * item,
          static_cast<size_t>(tensor.numel()) * item);
}

}  // namespace fxjit
