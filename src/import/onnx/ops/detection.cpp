// Boxes: which of them are kept.
#include "src/import/onnx/ops/families.h"

namespace fxjit::onnx {
namespace {

Results non_max_suppression(Call& call) {
  return call.recorder().record_data_sized(
      "fxjit.non_max_suppression",
      {call[0], call[1], call.optional(2), call.optional(3), call.optional(4),
       call.flag("center_point_box", false)},
      Tensor::meta({64, 3}, DType::i64));
}

constexpr OpRow kDetectionOps[] = {
    {.op = "NonMaxSuppression", .since = 10, .run = non_max_suppression},
};

}  // namespace

std::span<const OpRow> detection_rows() { return kDetectionOps; }

}  // namespace fxjit::onnx
