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
  constexpr std::string_view kOthers[] = {
      // Composites that never give an argument back.
      "batch_norm", "group_norm", "layer_norm", "log_softmax", "rms_norm",
      "softmax", "adaptive_avg_pool2d",
      // New tensors like others.
      "new_empty", "new_full", "new_ones", "new_zeros", "empty_like",
      "full_like", "ones_like", "zeros_like",
      // Copies with elements changed.
      "index_add", "index_copy", "index_fill", "index_put", "masked_scatter",
      "scatter", "scatter_add", "scatter_reduce", "select_scatter",
      "slice_scatter"};
  return std::find(std::begin(kOthers), std::end(kOthers), op.name()) !=
         std::end(kOthers);
}

}  // namespace fxjit::ops
