// Weights in oneDNN's form, shared by every kernel of the process that packs
// the same constant in the same way, and freed with the last of them.
#pragma once

#include <functional>
#include <memory>

#include "fxjit/tensor.h"
#include "kernels/shape_cache.h"
#include "src/support/aligned_block.h"

namespace fxjit::kernels::onednn {

class PackedWeights {
 public:
  // `form` names the packed form; `pack` fills `bytes` bytes when nobody has
  // packed `weight` this way yet. Afterwards the pages of a mapped weight are
  // given back. Thread-safe; passes on what `pack` throws.
  static std::shared_ptr<const PackedWeights> get(
      const Tensor& weight, const ShapeKey& form, size_t bytes,
      const std::function<void(const void* weight, std::byte* packed)>& pack);

  const std::byte* data() const { return block_.data(); }

 private:
  PackedWeights(const Tensor& weight, size_t bytes)
      : storage_(weight.storage()), block_(bytes) {}

  std::shared_ptr<Storage> storage_;  // Keeps its address from being reused.
  support::AlignedBlock block_;
};

}  // namespace fxjit::kernels::onednn
