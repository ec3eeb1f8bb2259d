// The explicit list of op families. A family is a constant array of rows in
// src/ops/families/; adding one means a declaration here and a line in
// families.cpp. Only the registry calls these.
#pragma once

#include <span>
#include <vector>

#include "fxjit/op.h"

namespace fxjit::ops {

std::span<const OpRow> arithmetic_rows();
std::span<const OpRow> clamping_rows();
std::span<const OpRow> smooth_rows();
std::span<const OpRow> activation_rows();
std::span<const OpRow> comparison_rows();
std::span<const OpRow> bitwise_rows();
std::span<const OpRow> selection_rows();
std::span<const OpRow> cast_rows();
std::span<const OpRow> reduction_rows();
std::span<const OpRow> sorting_rows();
std::span<const OpRow> softmax_norm_rows();
std::span<const OpRow> view_rows();
std::span<const OpRow> slicing_rows();
std::span<const OpRow> indexing_rows();
std::span<const OpRow> metadata_rows();
std::span<const OpRow> shape_op_rows();
std::span<const OpRow> padding_rows();
std::span<const OpRow> contraction_rows();
std::span<const OpRow> einsum_rows();
std::span<const OpRow> convolution_rows();
std::span<const OpRow> pooling_rows();
std::span<const OpRow> adaptive_pooling_rows();
std::span<const OpRow> interpolation_rows();
std::span<const OpRow> gather_rows();
std::span<const OpRow> scattering_rows();
std::span<const OpRow> index_rows();
std::span<const OpRow> attention_rows();
std::span<const OpRow> creation_rows();
std::span<const OpRow> loss_rows();
std::span<const OpRow> class_loss_rows();
std::span<const OpRow> distance_rows();
std::span<const OpRow> scan_rows();
std::span<const OpRow> scatter_reduce_rows();
std::span<const OpRow> special_rows();
std::span<const OpRow> rearranging_rows();
std::span<const OpRow> window_rows();
std::span<const OpRow> sampling_rows();
std::span<const OpRow> bag_rows();
std::span<const OpRow> searching_rows();
std::span<const OpRow> data_sized_rows();
std::span<const OpRow> quantile_rows();
std::span<const OpRow> unpooling_rows();
std::span<const OpRow> ctc_rows();
std::span<const OpRow> in_place_rows();
std::span<const OpRow> random_rows();
std::span<const OpRow> random_write_rows();
std::span<const OpRow> dropout_rows();
std::span<const OpRow> special_function_rows();
std::span<const OpRow> linalg_rows();
std::span<const OpRow> matrix_norm_rows();
std::span<const OpRow> more_creation_rows();
std::span<const OpRow> data_test_rows();
std::span<const OpRow> combination_rows();
std::span<const OpRow> recurrence_rows();
std::span<const OpRow> recurrent_rows();
std::span<const OpRow> recurrent_cell_rows();
std::span<const OpRow> copy_rows();
std::span<const OpRow> assertion_rows();
std::span<const OpRow> strided_creation_rows();
std::span<const OpRow> native_norm_rows();
std::span<const OpRow> attention_kernel_rows();
std::span<const OpRow> histogram_rows();
std::span<const OpRow> indexed_copy_rows();
std::span<const OpRow> bag_kernel_rows();
std::span<const OpRow> adaptive_max_place_rows();
std::span<const OpRow> complex_view_rows();
std::span<const OpRow> fft_kernel_rows();
std::span<const OpRow> fft_call_rows();
std::span<const OpRow> fft_function_rows();
std::span<const OpRow> spectrum_rows();
std::span<const OpRow> overlap_add_rows();
std::span<const OpRow> fft_helper_rows();

// Every family, in table order.
std::vector<std::span<const OpRow>> all_families();

}  // namespace fxjit::ops
