// Names, arities and costs of the scalar primitives.
#include <array>

#include "fxjit/error.h"
#include "fxjit/scalar_body.h"
#include "src/ops/table/prims.h"

namespace fxjit {
namespace {

struct PrimInfo {
  Prim prim;
  const char* name;
  int arity;
  int cost;
};

constexpr std::array kPrims = {
#define FXJIT_PRIM(name, arity, cost) PrimInfo{Prim::name, #name, arity, cost},
#include "src/ops/table/prims.inc"
};

constexpr bool stand_in_order() {
  for (size_t i = 0; i < kPrims.size(); ++i)
    if (kPrims[i].prim != static_cast<Prim>(i)) return false;
  return kPrims.back().prim == Prim::reduce_all;
}
static_assert(stand_in_order(), "prims.inc has other lines than enum Prim");

const PrimInfo& info(Prim prim) {
  const auto at = static_cast<size_t>(prim);
  FXJIT_CHECK(at < kPrims.size(), "scalar body: unknown primitive");
  return kPrims[at];
}

}  // namespace

int prim_arity(Prim prim) { return info(prim).arity; }
const char* prim_name(Prim prim) { return info(prim).name; }
int prim_cost(Prim prim) { return info(prim).cost; }
bool is_reduction(Prim prim) { return prim >= Prim::reduce_sum; }

}  // namespace fxjit
