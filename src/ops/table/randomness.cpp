#include "src/ops/table/randomness.h"

namespace fxjit::ops {

bool draws_numbers(const OpCall& call) {
  if (call.op.row.purity != Purity::random) return false;
  const int training = call.op.index_of("training");
  if (training < 0) return true;
  // What is not known before the call counts as true.
  const Value& flag = call[static_cast<size_t>(training)];
  return !flag.is_bool() || flag.as_bool();
}

}  // namespace fxjit::ops
