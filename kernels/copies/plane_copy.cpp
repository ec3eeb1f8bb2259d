#include "kernels/copies/plane_copy.h"

#include <cstring>

#include "fxjit/cpu_level.h"

#define FXJIT_LEVEL_CODE "kernels/copies/plane_loops.h"

namespace fxjit::kernels {
namespace {

#include "kernels/each_level.h"

}  // namespace

void PlaneCopy::to_inner(const float* planes, float* inner) const {
  at_level(host_cpu_level(), *this, const_cast<float*>(planes), inner, true);
}

void PlaneCopy::to_planes(const float* inner, float* planes) const {
  at_level(host_cpu_level(), *this, planes, const_cast<float*>(inner), false);
}

}  // namespace fxjit::kernels
