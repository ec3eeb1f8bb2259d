#include <string>
#include <utility>

#include "fxjit/error.h"
#include "src/fx/control_flow/functions.h"

namespace fxjit::fx {
namespace {

thread_local const LoopLimits* current = nullptr;

std::string name_of(ControlFlow loop) {
  const std::string& name = control_function(loop).name;
  return "[" + name.substr(name.rfind('.') + 1) + "]";
}

}  // namespace

LoopLimitsScope::LoopLimitsScope(const LoopLimits* limits)
    : previous_(std::exchange(current, limits ? limits : current)) {}
LoopLimitsScope::~LoopLimitsScope() { current = previous_; }

const LoopLimits& loop_limits() {
  static const LoopLimits none;
  return current ? *current : none;
}

void check_limits(const LoopLimits& limits, ControlFlow loop, int64_t done) {
  if (limits.iterations > 0 && done >= limits.iterations)
    throw RuntimeError(name_of(loop) + " iterations: expected at most " +
                       std::to_string(limits.iterations) + ", got more");
  if (limits.interrupted && limits.interrupted())
    throw RuntimeError(name_of(loop) + " interrupted after " +
                       std::to_string(done) + " iterations");
}

}  // namespace fxjit::fx
