#include "fxjit/nn/deep_copy.h"

#include <unordered_map>

#include "fxjit/fx/tracer.h"
#include "fxjit/nn/module.h"

namespace fxjit::nn {
namespace {

thread_local DeepCopy* current_copy = nullptr;

}  // namespace

struct DeepCopy::Copies {
  std::unordered_map<const Module*, std::shared_ptr<Module>> modules;
  std::unordered_map<const TensorSlot*, std::shared_ptr<TensorSlot>> slots;
  // With the original, whose address must not be used again meanwhile.
  std::unordered_map<const void*, std::pair<Tensor, Tensor>> tensors;
};

DeepCopy::DeepCopy()
    : previous_(std::exchange(current_copy, this)),
      copies_(std::make_unique<Copies>()) {}
DeepCopy::~DeepCopy() { current_copy = previous_; }
DeepCopy* DeepCopy::active() { return current_copy; }

std::shared_ptr<Module> DeepCopy::module(
    const std::shared_ptr<Module>& original) {
  const auto found = copies_->modules.find(original.get());
  if (found != copies_->modules.end()) return found->second;
  std::shared_ptr<Module> made = original->clone();
  copies_->modules.emplace(original.get(), made);
  return made;
}

std::shared_ptr<TensorSlot> DeepCopy::slot(
    const std::shared_ptr<TensorSlot>& original) {
  if (!original) return nullptr;
  auto& made = copies_->slots[original.get()];
  if (!made) {
    made = std::make_shared<TensorSlot>(*original);
    made->value = value(original->value);
  }
  return made;
}

Value DeepCopy::value(const Value& original) {
  return map_leaves(original, [this](const Value& leaf) {
    return leaf.is_tensor() ? Value(tensor(leaf.as_tensor())) : leaf;
  });
}

Tensor DeepCopy::tensor(const Tensor& original) {
  auto& [kept, made] = copies_->tensors[original.id()];
  if (!made.defined()) {
    kept = original;
    made = original.is_meta() ? original : original.clone();
  }
  return made;
}

std::shared_ptr<Module> deep_copy(const Module& module) {
  module.check_nesting();
  DeepCopy copy;
  return module.clone();
}

}  // namespace fxjit::nn
