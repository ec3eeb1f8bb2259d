#include <utility>

#include "fxjit/error.h"
#include "src/fx/control_flow/functions.h"

namespace fxjit::fx {
namespace {

thread_local const LoopLimits* current = nullptr;

}  // namespace

LoopLimitsScope::LoopLimitsScope(const LoopLimits& limits)
    : previous_(std::exchange(current, &limits)) {}
LoopLimitsScope::~LoopLimitsScope() { current = previous_; }

const LoopLimits& loop_limits() {
  static const LoopLimits none;
  return current ? *current : none;
}

void check_limits(const LoopLimits& limits, std::string_view loop,
                  int64_t done) {
  if (limits.iterations > 0 && done >= limits.iterations)
    throw RuntimeError("[" + std::string(loop) + "] iterations: expected at most " +
                    std::to_string(limits.iterations) + ", got more");
  if (limits.interrupted && limits.interrupted())
    throw RuntimeError("[" + std::string(loop) + "] interrupted after " +
                    std::to_string(done) + " iterations");
}

}  // namespace fxjit::fx
