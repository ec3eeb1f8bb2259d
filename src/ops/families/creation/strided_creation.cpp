// New tensors whose order of memory is asked for. Their elements, which torch
// leaves as they come, are zeros.
#include <algorithm>

#include "src/ops/families/creation/creation.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

Tensor strided_meta(const OpCall& call, size_t first, DType fallback) {
  const Dims sizes = sizes_arg(call, first), strides = call.dims(first + 1);
  if (sizes.size() != strides.size())
    runtime_error("dimensionality of sizes (", sizes.size(),
                  ") must match dimensionality of strides (", strides.size(),
                  ")");
  for (const int64_t stride : strides)
    if (stride < 0)
      runtime_error("Storage size calculation overflowed with sizes=", sizes,
                    " and strides=", strides);
  return Tensor::meta(sizes, options_dtype(call, first + 2, fallback), strides);
}

// From the first element to behind the last, gaps included.
int64_t reach_of(const Tensor& shape) {
  if (shape.numel() == 0) return 0;
  ExactInt reach = 1;
  for (int d = 0; d < shape.dim(); ++d)
    reach = reach + ExactInt(shape.size(d) - 1) * shape.stride(d);
  return reach;
}

Tensor zeros_like_meta(const Tensor& shape) {
  const Dims whole{reach_of(shape)};
  check_memory(whole, shape.dtype());
  return Tensor::zeros(whole, shape.dtype())
      .as_strided(shape.sizes(), shape.strides(), 0);
}

Value infer_strided(const OpCall& call) {
  return strided_meta(call, 0, DType::f32);
}

Value infer_new_strided(const OpCall& call) {
  return strided_meta(call, 1, call.tensor(0).dtype());
}

// physical_layout: the dims from the outermost in memory to the innermost.
Value infer_permuted(const OpCall& call) {
  const Dims sizes = sizes_arg(call, 0), order = call.dims(1);
  Dims sorted = order;
  std::sort(sorted.begin(), sorted.end());
  if (order.size() != sizes.size())
    runtime_error(
        "Number of dimensions in size does not match the length of the "
        "physical_layout; i.e. len(size) = ",
        sizes.size(), " is not equal to len(physical_layout) = ", order.size());
  for (int d = 0; d < sorted.size(); ++d)
    if (sorted[d] != d) runtime_error("Duplicate dim not allowed");
  Dims strides(sizes.size(), 1);
  ExactInt reach = 1;
  for (int i = order.size() - 1; i >= 0; --i) {
    const int d = static_cast<int>(order[i]);
    strides[d] = reach;
    reach = reach * std::max<int64_t>(sizes[d], 1);
  }
  return Tensor::meta(sizes, options_dtype(call, 2, DType::f32), strides);
}

template <InferFn kInfer>
Value eager_strided(const OpCall& call) {
  return zeros_like_meta(kInfer(call).as_tensor());
}

// Only a dtype is taken from the argument: a constant of compiled graphs.
Value decompose_new_strided(const OpCall& call) {
  const DType dtype = options_dtype(call, 3, meta_of(call[0]).dtype());
  return call_row("empty_strided", {call[1], call[2]}, {{"dtype", dtype}});
}

template <InferFn kInfer>
constexpr OpRow strided(const char* name, const char* schema, const char* names,
                        DecomposeFn decompose = nullptr) {
  return made_row(name, schema, names, kInfer, eager_strided<kInfer>,
                  decompose);
}

constexpr OpRow kStridedCreationRows[] = {
    strided<infer_strided>("empty_strided",
                           "size, stride, *, " FXJIT_TENSOR_OPTIONS,
                           "torch.empty_strided"),
    strided<infer_new_strided>("new_empty_strided",
                               "input, size, stride, *, " FXJIT_TENSOR_OPTIONS,
                               ".new_empty_strided", decompose_new_strided),
    strided<infer_permuted>("empty_permuted",
                            "size, physical_layout, *, " FXJIT_TENSOR_OPTIONS,
                            "torch.empty_permuted"),
};

}  // namespace

std::span<const OpRow> strided_creation_rows() { return kStridedCreationRows; }

}  // namespace fxjit::ops
