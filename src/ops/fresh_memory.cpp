#include "src/ops/fresh_memory.h"

#include <algorithm>

namespace fxjit::ops {

bool gives_fresh_memory(const Op& op) {
  switch (op.row.lowering) {
    case Lowering::scalar:
    case Lowering::reduce:
    case Lowering::contraction:
    case Lowering::attention:
    case Lowering::gather:
    case Lowering::cat:
    case Lowering::convolution:
    case Lowering::pool:
      return op.row.purity == Purity::pure;
    default:
      break;
  }
  constexpr std::string_view kComposites[] = {
      "batch_norm", "group_norm",  "layer_norm", "log_softmax",
      "rms_norm",   "softmax",     "adaptive_avg_pool2d"};
  return std::find(std::begin(kComposites), std::end(kComposites),
                   op.name()) != std::end(kComposites);
}

}  // namespace fxjit::ops
