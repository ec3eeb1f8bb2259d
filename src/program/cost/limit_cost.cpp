#include "src/ops/table/prims.h"
#include "src/program/cost/body_work.h"

namespace fxjit::program {
namespace {

// At sse41, avx2, avx512.
struct Costs {
  double at[3];
  double of(CpuLevel level) const { return at[static_cast<size_t>(level)]; }
};

// A tenth below the least that `fxjit_prim_bench` measured
// on a Xeon of the Sapphire Rapids kind, so that work beside them, which hides
// some of their time, does not seem faster than the machine. That of sigmoid at
// avx512 is what it takes in a gate, beside tanh.
constexpr Costs kExp{{14, 16, 7}}, kLog{{18, 24, 14}}, kTanh{{23, 32, 16}},
    kErf{{23, 29, 14}}, kSigmoid{{16, 17, 9}}, kGelu{{20, 26, 13}};
// Element by element; the fastest of those measured.
constexpr Costs kCalls{{35, 100, 220}};
// The divider works beside the other units: its instructions alone.
constexpr Costs kDivision{{3, 4, 4}};

}  // namespace

double limit_cost(Prim prim, CpuLevel level) {
  switch (prim) {
    case Prim::exp:
    case Prim::expm1:
      return kExp.of(level);
    case Prim::log:
    case Prim::log1p:
      return kLog.of(level);
    case Prim::tanh:
      return kTanh.of(level);
    case Prim::erf:
      return kErf.of(level);
    case Prim::sigmoid:
    case Prim::silu:
      return kSigmoid.of(level);
    case Prim::gelu:
    case Prim::gelu_tanh:
      return kGelu.of(level);
    default:
      break;
  }
  const int cost = prim_cost(prim);
  constexpr int kCallCost = 10;  // What is dear and not above is a call.
  if (cost >= kCallCost) return kCalls.of(level);
  if (cost > 1) return kDivision.of(level);
  return cost == 0 ? 0 : 0.5;
}

}  // namespace fxjit::program
