// Names, arities and costs of the scalar primitives.
#include <array>

#include "fxjit/error.h"
#include "fxjit/scalar_body.h"
#include "src/ops/table/prims.h"

namespace fxjit {
namespace {

struct PrimInfo {
  const char* name;
  int arity;
  int cost;
};

// In the order of enum Prim, which is made of the same lines.
constexpr std::array kPrims = {
#define FXJIT_PRIM(name, arity, cost) PrimInfo{#name, arity, cost},
#include "fxjit/prims.inc"
};

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
