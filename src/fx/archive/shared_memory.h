// Finds the tensors of a module tree that overlap in memory. `save` writes them
// as views of one tensor, so that after loading a write to one is seen in the
// others too.
#pragma once

#include <unordered_map>
#include <vector>

#include "fxjit/nn/module.h"

namespace fxjit::fx::archive {

class SharedMemory {
 public:
  explicit SharedMemory(const nn::Module& root);

  // The tensor whose memory `tensor` is saved as a view of. It holds the memory
  // of `tensor` and of all tensors that overlap with it: it is one of them or,
  // if none reaches that far, a tensor of bytes. Undefined if `tensor` overlaps
  // with no other, or is itself that tensor.
  Tensor base_of(const Tensor& tensor) const;

 private:
  void add(const Tensor& tensor);
  void group(std::vector<Tensor>& tensors);

  std::unordered_map<const Storage*, std::vector<Tensor>> by_storage_;
  std::unordered_map<const void*, Tensor> bases_;  // By tensor id.
};

}  // namespace fxjit::fx::archive
