#include "src/ops/families.h"

namespace fxjit::ops {

std::vector<std::span<const OpRow>> all_families() {
  return {
      arithmetic_rows(),    clamping_rows(),       smooth_rows(),
      activation_rows(),    comparison_rows(),     bitwise_rows(),
      selection_rows(),     cast_rows(),           reduction_rows(),
      sorting_rows(),       softmax_norm_rows(),   view_rows(),
      slicing_rows(),       indexing_rows(),       metadata_rows(),
      shape_op_rows(),      padding_rows(),        contraction_rows(),
      einsum_rows(),        convolution_rows(),    pooling_rows(),
      interpolation_rows(), gather_rows(),         scattering_rows(),
      index_rows(),         attention_rows(),      creation_rows(),
      loss_rows(),          class_loss_rows(),     distance_rows(),
      scan_rows(),          scatter_reduce_rows(), special_rows(),
      rearranging_rows(),   window_rows(),         sampling_rows(),
      bag_rows(),           searching_rows(),      data_sized_rows(),
      quantile_rows(),      unpooling_rows(),      ctc_rows(),
      in_place_rows(),
  };
}

}  // namespace fxjit::ops
