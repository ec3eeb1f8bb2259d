#include "src/passes/folded_weights.h"

#include <bit>
#include <cstdint>

namespace fxjit::passes {
namespace {

std::string key_of(const std::vector<Tensor>& sources, double number) {
  std::string key = std::to_string(std::bit_cast<uint64_t>(number));
  for (const Tensor& t : sources) {
    if (t.defined())
      key += " " + std::to_string(reinterpret_cast<uintptr_t>(t.data())) +
             t.sizes().str() + t.strides().str();
    else
      key += " none";
  }
  return key;
}

std::shared_ptr<Storage> storage_of(const Tensor& t) {
  return t.defined() ? t.storage() : nullptr;
}

}  // namespace

// Empty where a source is another one now or something made is gone.
std::vector<Tensor> FoldedWeights::alive(const Made& made,
                                         const std::vector<Tensor>& sources) {
  for (size_t i = 0; i < made.sources.size(); ++i)
    if (made.sources[i].lock() != storage_of(sources[i])) return {};
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < made.storages.size(); ++i) {
    const Tensor& meta = made.metas[i];
    auto storage = made.storages[i].lock();
    if (!storage) return {};
    tensors.push_back(Tensor::view(std::move(storage), meta.sizes(),
                                   meta.dtype(), meta.strides(),
                                   meta.offset()));
  }
  return tensors;
}

std::vector<Tensor> FoldedWeights::get(
    const std::vector<Tensor>& sources, double number,
    const std::function<std::vector<Tensor>()>& make) {
  std::lock_guard lock(mutex_);
  Made& known = made_[key_of(sources, number)];
  std::vector<Tensor> tensors;
  if (!known.storages.empty()) tensors = alive(known, sources);
  if (tensors.empty()) {
    tensors = make();
    known = {};
    for (const Tensor& source : sources)
      known.sources.push_back(storage_of(source));
    for (const Tensor& t : tensors) {
      known.storages.push_back(t.storage());
      known.metas.push_back(
          Tensor::meta(t.sizes(), t.dtype(), t.strides(), t.offset()));
    }
    std::erase_if(made_, [](const auto& entry) {
      return entry.second.storages.front().expired();
    });
  }
  return tensors;
}

}  // namespace fxjit::passes
