#include "src/tensor/tensor_memory.h"

#include <bit>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <memory>

#include "src/support/memory/aligned_block.h"

namespace fxjit {

namespace {

void append_word(std::string& text, int64_t word) {
  char digits[17];
  const auto end = std::to_chars(std::begin(digits), std::end(digits) - 1,
                                 static_cast<uint64_t>(word), 16)
                       .ptr;
  *end = ' ';
  text.append(digits, static_cast<size_t>(end + 1 - digits));
}

}  // namespace

std::string memory_key(const Tensor& tensor) {
  std::string key;
  key.reserve(96);
  append_word(key, std::bit_cast<int64_t>(tensor.storage()->identity()));
  append_word(key, tensor.offset());
  append_word(key, static_cast<int64_t>(tensor.dtype()));
  append_word(key, tensor.dim());
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
