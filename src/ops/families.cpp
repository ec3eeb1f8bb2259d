#include "src/ops/families.h"

namespace fxjit::ops {

std::vector<std::span<const OpRow>> all_families() {
  return {
      arithmetic_rows(), clamping_rows(), smooth_rows(),    activation_rows(),
      comparison_rows(), bitwise_rows(),  selection_rows(), cast_rows(),
  };
}

}  // namespace fxjit::ops
