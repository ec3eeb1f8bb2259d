#include "src/ops/families.h"

namespace fxjit::ops {

std::vector<std::span<const OpRow>> all_families() {
  return {
      arithmetic_rows(),
      comparison_rows(),
  };
}

}  // namespace fxjit::ops
