#include "kernels/recurrence/task_inputs.h"

namespace fxjit::kernels {

void TaskInputs::load(const float* const* from, int64_t count) {
  for (int64_t n = 0; n < count; ++n)
    for (int64_t k = 0; k < features; ++k)
      inputs[n * row + k] = from[n][k * element];
}

void TaskInputs::begin_block(const float* const (&from)[kAheadTimes]) {
  finish_ahead(ahead);
  if (!from[0]) return;
  const int64_t block = kAheadTimes * ahead.gates_row;
  ahead.gates = ahead.gates == gates ? gates + block : gates;
  ahead.vector = ahead.done = 0;
  for (int64_t t = 0; t < kAheadTimes; ++t)
    for (int64_t k = 0; k < features; ++k)
      inputs[k * kAheadTimes + t] = from[t] ? from[t][k * element] : 0.0f;
}

const float* TaskInputs::gates_of(int64_t step) const {
  const int64_t blocks = step / kAheadTimes % 2;
  return gates + (blocks * kAheadTimes + step % kAheadTimes) * ahead.gates_row;
}

}  // namespace fxjit::kernels
