#include "src/program/limit_cost.h"

#include "src/program/row_schedule.h"

namespace fxjit::program {

double limit_cost(Prim prim, CpuLevel) {
  const int cost = prim_cost(prim);
  return cost > 1 ? cost : 0.5;
}

}  // namespace fxjit::program
