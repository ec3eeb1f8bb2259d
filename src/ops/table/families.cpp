#include "src/ops/table/families.h"

namespace fxjit::ops {

std::vector<std::span<const OpRow>> all_families() {
  return {
#define FXJIT_FAMILY(name) name##_rows(),
#include "src/ops/table/families.inc"
#undef FXJIT_FAMILY
  };
}

}  // namespace fxjit::ops
