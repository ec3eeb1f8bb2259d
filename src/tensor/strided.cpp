#include "src/tensor/strided.h"

#include "fxjit/error.h"

namespace fxjit {

Dims broadcast_strides(const Dims& sizes, const Dims& strides,
                       const Dims& target) {
  const int shift = target.size() - sizes.size();
  FXJIT_CHECK(shift >= 0, sizes.str() + " to " + target.str());
  Dims result(target.size(), 0);
  for (int i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 1 && target[i + shift] != 1) continue;
    FXJIT_CHECK(sizes[i] == target[i + shift],
                sizes.str() + " to " + target.str());
    result[i + shift] = strides[i];
  }
  return result;
}

}  // namespace fxjit
