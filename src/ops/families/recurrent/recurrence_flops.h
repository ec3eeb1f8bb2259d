// What a recurrence computes, for estimates of cost. Only its row uses it.
#pragma once

#include "src/ops/table/recurrence.h"

namespace fxjit::ops {

// Every row and direction has the product with the state, that with the input
// where the call has it, and the projection.
inline double recurrence_flops(const OpCall& call) {
  const Recurrence form = Recurrence::read(call);
  const auto hidden = static_cast<double>(form.hidden);
  const auto width = static_cast<double>(form.width);
  const auto depth = static_cast<double>(form.width + form.features);
  const double products = static_cast<double>(form.gates()) * hidden * depth +
                          (form.projected ? hidden * width : 0);
  return 2 * static_cast<double>(form.rows * form.directions) * products;
}

}  // namespace fxjit::ops
