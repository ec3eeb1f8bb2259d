#include "src/program/running/pack_code.h"

#include "src/weights/panels.h"
#include "src/weights/quads.h"

namespace fxjit::program {

PackCode::PackCode(const RunTimePack& matrix, CpuLevel level)
    : matrix_(matrix),
      width_(weights::register_tile(level).width()),
      elements_(
          weights::packed_elements(matrix.depth, matrix.columns, width_)) {}

void PackCode::run(const StepCall& call, int64_t begin, int64_t end) const {
  if (matrix_.dtype == DType::i16) return run_pairs(call, begin, end);
  const auto* in = static_cast<const float*>(call.operands[0]);
  auto* out = static_cast<float*>(call.operands[1]);
  for (int64_t b = begin; b < end; ++b) {
    const weights::PackSource source{in + b * matrix_.batch_stride,
                                     matrix_.depth_stride,
                                     matrix_.column_stride, matrix_.columns};
    weights::pack_panels({&source, 1}, matrix_.depth, width_,
                         out + b * elements_);
  }
}

void PackCode::run_pairs(const StepCall& call, int64_t begin,
                         int64_t end) const {
  const auto* in = static_cast<const int16_t*>(call.operands[0]);
  auto* out = static_cast<std::byte*>(call.operands[1]);
  const int64_t bytes =
      weights::QuadLayout(2 * matrix_.depth, matrix_.columns).bytes;
  for (int64_t b = begin; b < end; ++b)
    weights::pack_pairs(
        {in + b * matrix_.batch_stride, matrix_.depth, matrix_.columns,
         matrix_.depth_stride, matrix_.column_stride},
        out + b * bytes);
}

std::string PackCode::describe() const {
  return "pack " + std::to_string(matrix_.batch) + " x " +
         std::to_string(matrix_.depth) + " x " +
         std::to_string(matrix_.columns);
}

}  // namespace fxjit::program
