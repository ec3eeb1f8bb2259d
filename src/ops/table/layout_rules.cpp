#include "src/ops/table/layout_rules.h"

#include <algorithm>

#include "src/ops/families/index/index.h"
#include "src/ops/families/views/view_rules.h"
#include "src/ops/table/memory_format.h"
#include "src/tensor/memory_order.h"
#include "src/tensor/strided.h"

namespace fxjit::ops {
namespace {

// Whether the tensors are operands of one loop over `sizes`.
bool are_operands(const std::vector<Tensor>& tensors, const Dims& sizes) {
  for (const Tensor& tensor : tensors) {
    const int lacking = sizes.size() - tensor.dim();
    if (lacking < 0) return false;
    for (int d = 0; d < tensor.dim(); ++d)
      if (tensor.sizes()[d] != 1 && tensor.sizes()[d] != sizes[d + lacking])
        return false;
  }
  return true;
}

Dims strides_of_loop(const std::vector<Tensor>& operands,
                     const Tensor& result) {
  const Dims& sizes = result.sizes();
  if (!are_operands(operands, sizes)) return result.strides();
  std::vector<Dims> strides;
  for (const Tensor& operand : operands)
    strides.push_back(
        broadcast_strides(operand.sizes(), operand.strides(), sizes));
  return strides_in_order(sizes, loop_order(sizes, strides));
}

Dims strides_of_first(const Tensor& first, const Tensor& result) {
  if (first.sizes() != result.sizes()) return result.strides();
  return is_dense(first) ? first.strides()
                         : strides_in_order(first.sizes(), memory_order(first));
}

Dims with_channels_innermost(const Dims& sizes) {
  Dims order{0};
  for (int d = 2; d < sizes.size(); ++d) order.push_back(d);
  order.push_back(1);
  return strides_in_order(sizes, order);
}

// A line counts as an image of one row.
bool is_channels_line(const Tensor& t) {
  return t.dim() == 3 && has_channels_innermost(unsqueezed(t, 2));
}

bool is_channels_image(const Tensor& t) {
  return t.dim() == 4 && has_channels_innermost(t);
}

// Whether torch has oneDNN filter a batch of volumes, which it leaves for the
// smallest ones.
bool is_much_to_filter(const Tensor& volumes, const Tensor& weight) {
  if (volumes.size(0) > 1 || weight.size(1) < volumes.size(1)) return true;
  if (weight.size(-1) > 3 && weight.size(-2) > 3) return true;
  return volumes.size(1) * volumes.size(2) * volumes.size(3) > 20480;
}

// Those over volumes keep the order of either where oneDNN filters them.
Dims strides_of_filtered_volumes(const Tensor& volumes, const Tensor& weight,
                                 const Tensor& result) {
  const bool keeps =
      volumes.dim() == 5 && result.dtype() == DType::f32 &&
      (has_channels_innermost(volumes) || has_channels_innermost(weight)) &&
      is_much_to_filter(volumes, weight);
  return keeps ? with_channels_innermost(result.sizes())
               : contiguous_strides(result.sizes());
}

// Convolutions over lines look at their filter only. One image is a batch of
// one.
Dims strides_of_filtered(const std::vector<Tensor>& tensors,
                         const Tensor& result) {
  const Tensor& weight = tensors[1];
  if (weight.dim() == 5)
    return strides_of_filtered_volumes(tensors[0], weight, result);
  const bool one = result.dim() < weight.dim();
  const Tensor image = one ? unsqueezed(tensors[0], 0) : tensors[0];
  if (!is_channels_image(image) && !is_channels_image(weight) &&
      !is_channels_line(weight))
    return contiguous_strides(result.sizes());
  Dims strides = with_channels_innermost(one ? unsqueezed(result, 0).sizes()
                                             : result.sizes());
  if (one) strides.erase(0);
  return strides;
}

bool all_have_channels_innermost(const std::vector<Tensor>& tensors) {
  return std::all_of(tensors.begin(), tensors.end(), has_channels_innermost);
}

Dims with_columns_innermost(const Dims& sizes) {
  const int rank = sizes.size();
  Dims order;
  for (int d = 0; d < rank; ++d) order.push_back(d);
  if (rank > 1) std::swap(order[rank - 1], order[rank - 2]);
  return strides_in_order(sizes, order);
}

}  // namespace

Dims strides_for(Layout layout, const OpCall& call,
                 const std::vector<Tensor>& tensors, const Tensor& result) {
  const Dims& sizes = result.sizes();
  if (layout == Layout::asked)
    return strides_in_format(sizes,
                             memory_format_of(call, MemoryFormat::contiguous));
  const Tensor& first = tensors[0];
  const Dims plain = contiguous_strides(sizes);
  const bool alike = first.dim() == result.dim();
  switch (layout) {
    case Layout::by_lowering:
    case Layout::stated:
      return result.strides();
    case Layout::plain:
      return plain;
    case Layout::elementwise:
      return strides_of_loop(tensors, result);
    case Layout::backwards:
      return strides_of_loop({tensors.rbegin(), tensors.rend()}, result);
    case Layout::first:
      return strides_of_first(first, result);
    case Layout::image:
      return alike && is_channels_image(first) ? with_channels_innermost(sizes)
                                               : plain;
    case Layout::volume:
      return alike && has_channels_innermost(first)
                 ? with_channels_innermost(sizes)
                 : plain;
    case Layout::padded:
      return alike && has_channels_innermost(first)
                 ? with_channels_innermost(sizes)
                 : result.strides();
    case Layout::line:
      return alike && is_channels_line(first) ? with_channels_innermost(sizes)
                                              : plain;
    case Layout::filtered:
      return strides_of_filtered(tensors, result);
    case Layout::joined:
      return all_have_channels_innermost(tensors)
                 ? with_channels_innermost(sizes)
                 : plain;
    case Layout::columns:
      return with_columns_innermost(sizes);
    case Layout::picked:
      return picked_strides(call);
    case Layout::asked:
      break;
  }
  return plain;
}

}  // namespace fxjit::ops
