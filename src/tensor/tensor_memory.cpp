#include "src/tensor/tensor_memory.h"

#include <cstdint>
#include <memory>

#include "src/support/memory/aligned_block.h"

namespace fxjit {

std::string memory_key(const Tensor& tensor) {
  const void* const memory = tensor.storage()->identity();
  return std::to_string(reinterpret_cast<uintptr_t>(memory)) + "+" +
         std::to_string(tensor.offset()) + tensor.sizes().str() +
         tensor.strides().str() + std::string(dtype_name(tensor.dtype()));
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
