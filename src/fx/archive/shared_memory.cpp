#include "src/fx/archive/shared_memory.h"

#include <algorithm>

namespace fxjit::fx::archive {
namespace {

struct Extent {
  int64_t begin = 0, end = 0;  // Bytes of the storage.
};

Extent extent_of(const Tensor& tensor) {
  int64_t last = tensor.offset();
  for (int d = 0; d < tensor.dim(); ++d)
    last += (tensor.sizes()[d] - 1) * tensor.strides()[d];
  const auto item = static_cast<int64_t>(tensor.item_size());
  return {tensor.offset() * item, (last + 1) * item};
}

bool is_all_of(const Tensor& tensor, const Extent& extent) {
  const Extent own = extent_of(tensor);
  return own.begin == extent.begin && own.end == extent.end &&
         tensor.is_contiguous();
}

}  // namespace

SharedMemory::SharedMemory(const nn::Module& root) {
  for (const auto& [path, module] : root.named_modules()) {
    for (const auto& [name, parameter] : module->own_parameters())
      if (parameter.defined()) add(parameter.tensor());
    for (const auto& [name, buffer] : module->own_buffers())
      if (buffer.defined()) add(buffer.tensor());
    for (const auto& [name, value] : module->own_attrs())
      visit_leaves(value, [&](const Value& leaf) {
        if (leaf.is_tensor()) add(leaf.as_tensor());
      });
  }
  for (auto& [storage, tensors] : by_storage_) group(tensors);
  by_storage_.clear();
}

void SharedMemory::add(const Tensor& tensor) {
  if (tensor.is_meta() || tensor.numel() == 0) return;
  by_storage_[tensor.storage().get()].push_back(tensor);
}

// Runs of overlapping extents, found in the order of their beginnings.
void SharedMemory::group(std::vector<Tensor>& tensors) {
  std::ranges::stable_sort(tensors, {}, [](const Tensor& tensor) {
    return extent_of(tensor).begin;
  });
  for (size_t first = 0, next = 0; first < tensors.size(); first = next) {
    Extent all = extent_of(tensors[first]);
    bool several = false;
    for (next = first + 1; next < tensors.size(); ++next) {
      const Extent extent = extent_of(tensors[next]);
      if (extent.begin >= all.end) break;
      all.end = std::max(all.end, extent.end);
      several = several || !tensors[next].is(tensors[first]);
    }
    if (!several) continue;
    Tensor base;
    for (size_t i = first; i < next && !base.defined(); ++i)
      if (is_all_of(tensors[i], all)) base = tensors[i];
    if (!base.defined())
      base = Tensor::view(tensors[first].storage(), {all.end - all.begin},
                          DType::u8, {1}, all.begin);
    for (size_t i = first; i < next; ++i)
      if (!tensors[i].is(base)) bases_.emplace(tensors[i].id(), base);
  }
}

Tensor SharedMemory::base_of(const Tensor& tensor) const {
  const auto found = bases_.find(tensor.id());
  return found == bases_.end() ? Tensor() : found->second;
}

}  // namespace fxjit::fx::archive
