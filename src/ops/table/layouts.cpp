#include "src/ops/table/layouts.h"

#include "src/ops/table/aliasing.h"
#include "src/ops/table/layout_rules.h"
#include "src/ops/table/memory_format.h"
#include "src/ops/table/op_call.h"
#include "src/tensor/memory_order.h"
#include "src/tensor/strided.h"

namespace fxjit::ops {
namespace {

bool all_contiguous(std::span<const Value> values) {
  bool all = true;
  for (const Value& value : values)
    visit_leaves(value, [&](const Value& leaf) {
      if (!leaf.is_tensor()) return;
      const Tensor& t = leaf.as_tensor();
      all = all && t.strides() == contiguous_strides(t.sizes());
    });
  return all;
}

// Whether the result lies as it should without a look at the rule: what is made
// of contiguous tensors is contiguous. Strides of dims of one element count
// here: loops look at them.
bool is_settled(Layout how, const OpCall& call, const Value& result) {
  return how != Layout::columns && how != Layout::asked &&
         all_contiguous(call.args) &&
         all_contiguous(std::span<const Value>(&result, 1));
}

}  // namespace

Layout layout(const OpCall& call) {
  if (memory_format_of(call, MemoryFormat::preserve) != MemoryFormat::preserve)
    return Layout::asked;
  const OpRow& row = call.op.row;
  if (row.facts.layout_of) return row.facts.layout_of(call);
  if (row.facts.layout != Layout::by_lowering) return row.facts.layout;
  return row.lowering == Lowering::scalar ? Layout::elementwise
                                          : Layout::stated;
}

Value laid_out(const OpCall& call, const Value& result) {
  const Layout how = layout(call);
  if (how == Layout::stated || writes_input(call) ||
      is_settled(how, call, result))
    return result;
  const std::vector<Tensor> tensors = tensors_in(call.args);
  if (tensors.empty() && how != Layout::asked) return result;
  const std::vector<ResultMemory> memory = result_memory(call, result);
  size_t next = 0;
  return map_leaves(result, [&](const Value& leaf) -> Value {
    if (!leaf.is_tensor()) return leaf;
    const Tensor& t = leaf.as_tensor();
    if (memory[next++].argument >= 0 || t.numel() == 0) return leaf;
    const Dims strides = strides_for(how, call, tensors, t);
    if (same_places(t.sizes(), strides, t.strides())) return leaf;
    return Tensor::meta(t.sizes(), t.dtype(), strides);
  });
}

Value put_in_layout(const OpCall& call, const Value& result) {
  const Layout how = layout(call);
  const bool as_made =
      how == Layout::stated && !(call.op.row.infer && call.op.row.decompose);
  if (as_made || writes_input(call) || is_settled(how, call, result))
    return result;
  const Value shapes =
      how == Layout::stated ? infer_plain(call) : metas_of(result);
  const Value planned = laid_out(call, shapes);
  const std::vector<Tensor> wanted = tensors_in(planned);
  const std::vector<ResultMemory> memory = result_memory(call, result);
  size_t next = 0;
  return map_leaves(result, [&](const Value& leaf) -> Value {
    if (!leaf.is_tensor()) return leaf;
    const Tensor& t = leaf.as_tensor();
    const size_t at = next++;
    const Dims& strides = wanted[at].strides();
    if (memory[at].argument >= 0 ||
        same_places(t.sizes(), t.strides(), strides))
      return leaf;
    return copy_in_layout(t, strides);
  });
}

}  // namespace fxjit::ops
