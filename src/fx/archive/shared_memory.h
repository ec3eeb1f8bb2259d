// Which tensors of a module tree overlap in memory: those are saved as views of
// one tensor, so that what is written into one is seen in the other afterwards.
#pragma once

#include <unordered_map>
#include <vector>

#include "fxjit/nn/module.h"

namespace fxjit::fx::archive {

class SharedMemory {
 public:
  explicit SharedMemory(const nn::Module& root);

  // The tensor that has all the memory of `tensor` and of those that overlap
  // with it: one of the tree or, where none reaches as far, bytes. Undefined
  // where it shares with none, and for that tensor itself.
  Tensor base_of(const Tensor& tensor) const;

 private:
  void add(const Tensor& tensor);
  void group(std::vector<Tensor>& tensors);

  std::unordered_map<const Storage*, std::vector<Tensor>> by_storage_;
  std::unordered_map<const void*, Tensor> bases_;  // By tensor id.
};

}  // namespace fxjit::fx::archive
