#include "src/weights/spec.h"

namespace fxjit::weights {

Tensor view_of(const PackPiece& piece, const std::vector<Tensor>& constants) {
  const Tensor& whole = constants[static_cast<size_t>(piece.constant)];
  return whole.as_strided(piece.view.sizes, piece.view.strides,
                          whole.offset() + piece.offset);
}

}  // namespace fxjit::weights
