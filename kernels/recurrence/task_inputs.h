// How the steps of a task get the product with their inputs: where inputs and
// gates lie in working memory, and what is made ahead.
#pragma once

#include <cstdint>

#include "kernels/recurrence/step.h"
#include "src/ops/table/recurrence.h"

namespace fxjit::kernels {

struct TaskInputs {
  // For InputProduct::within: copies the inputs of one time, of `count`
  // sequences, into rows.
  void load(const float* const* from, int64_t count);

  // For InputProduct::ahead: finishes the gates of the block that begins now,
  // and starts those of the block with these inputs; null inputs stand for
  // times behind the last one.
  void begin_block(const float* const (&from)[kAheadTimes]);
  const float* gates_of(int64_t step) const;

  ops::InputProduct way = ops::InputProduct::given;
  int64_t features = 0, element = 1;  // In an input; floats from one to next.
  // Working memory. within: [sequences][row]; ahead: [features][kAheadTimes].
  float* inputs = nullptr;
  int64_t row = 0;
  // ahead: gates of two blocks, [2][kAheadTimes][gates_row].
  float* gates = nullptr;
  InputsAhead ahead;
};

}  // namespace fxjit::kernels
