#include "src/passes/folded_weights.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "src/tensor/tensor_memory.h"

namespace fxjit::passes {
namespace {

std::string key_of(const std::vector<Tensor>& sources, double number) {
  std::string key = std::to_string(std::bit_cast<uint64_t>(number));
  for (const Tensor& t : sources) {
    if (t.defined())
      key += " " + memory_key(t);
    else
      key += " none";
  }
  return key;
}

bool is_of_files(const std::vector<Tensor>& sources) {
  return std::all_of(sources.begin(), sources.end(), [](const Tensor& t) {
    return !t.defined() || t.storage()->read_only();
  });
}

}  // namespace

// Empty where a source is another one now or something made is gone.
std::vector<Tensor> FoldedWeights::alive(const Made& made,
                                         const std::vector<Tensor>& sources) {
  for (size_t i = 0; i < made.sources.size(); ++i)
    if (made.sources[i].lock() != sources[i].keeper()) return {};
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

FoldedWeights& FoldedWeights::of_files() {
  static auto& folded = *new FoldedWeights;
  return folded;
}

std::vector<Tensor> FoldedWeights::get(
    const std::vector<Tensor>& sources, double number,
    const std::function<std::vector<Tensor>()>& make) {
  FoldedWeights& where = is_of_files(sources) ? of_files() : *this;
  return where.get_here(sources, number, make);
}

std::vector<Tensor> FoldedWeights::get_here(
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
      known.sources.push_back(source.keeper());
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
