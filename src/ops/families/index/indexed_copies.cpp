// Copies of elements that are picked where a mask allows it, and of tensors a
// part of which is written.
#include "fxjit/functions_structured.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

// (input, mask, indices, fill): `fill` where the mask is False; indices there
// may lie outside.
Value unsafe_masked_index(const OpCall& call) {
  const Dims sizes = meta_of(call[0]).sizes();
  ValueList indices;
  for (const Value& index : call[2].as_sequence()) {
    const int64_t size = sizes[static_cast<int>(indices.size())];
    indices.push_back(index.is_none() ? index
                                      : fxjit::clamp(index, -size, size - 1));
  }
  const Value picked = fxjit::index(call[0], Value::list(std::move(indices)));
  return fxjit::masked_fill(picked, fxjit::logical_not(call[1]), call[3]);
}

// The diagonal of a copy is written.
void diagonal_scatter(const OpCall& call, std::span<const Tensor> results) {
  results[0].copy_from(call.tensor(0));
  const Tensor diagonal =
      fxjit::diagonal(results[0], call[2], call[3], call[4]).as_tensor();
  if (call.tensor(1).sizes() != diagonal.sizes())
    runtime_error(
        "expected src to have a size equal to the slice of self. src size = ",
        call.tensor(1).sizes(), ", slice size = ", diagonal.sizes());
  diagonal.copy_from(call.tensor(1));
}

constexpr OpRow kIndexedCopiesRows[] = {
    composed_row("_unsafe_masked_index", "input, mask, indices, fill",
                 "torch._unsafe_masked_index", unsafe_masked_index),
    direct_row("diagonal_scatter", "input, src, offset=0, dim1=0, dim2=1",
               "torch.diagonal_scatter .diagonal_scatter", infer_like_first,
               diagonal_scatter)
        .stating({.layout = Layout::first}),
};

}  // namespace

std::span<const OpRow> indexed_copy_rows() { return kIndexedCopiesRows; }

}  // namespace fxjit::ops
