#include "src/ops/eager/complex_calls.h"

#include <optional>

#include "src/ops/table/op_call.h"
#include "src/ops/table/pure_form.h"

namespace fxjit::ops {
namespace {

// The dtype of the first complex tensor, or to which a cast leads.
std::optional<DType> complex_dtype(const OpCall& call) {
  std::optional<DType> found;
  const auto look = [&](const Value& leaf) {
    if (!found && leaf.is_tensor() && is_complex(leaf.as_tensor().dtype()))
      found = leaf.as_tensor().dtype();
  };
  for (const Value& arg : call.args) visit_leaves(arg, look);
  if (found || call.op.name() != "cast") return found;
  const DType target = call[1].as_dtype();
  return is_complex(target) ? std::optional(target) : std::nullopt;
}

}  // namespace

DecomposeFn complex_form(const OpCall& call) {
  const std::optional<DType> dtype = complex_dtype(call);
  if (!dtype) return nullptr;
  const std::string_view name = call.op.name();
  if (const DecomposeFn form = form_of_row(name)) return form;
  const Op* const pure = writes_input(call) ? pure_form(call.op) : nullptr;
  if (pure && form_of_row(pure->name())) return written_in_parts;
  if (call.op.row.lowering == Lowering::view || takes_complex(name))
    return nullptr;
  throw NotImplementedError(call_prefix(call) + "is not supported for " +
                                std::string(dtype_name(*dtype)),
                            context_of(call));
}

bool holds_pairs(const Tensor& pairs) {
  const int last = pairs.dim() - 1;
  if (last < 0 || pairs.sizes()[last] != 2 || pairs.strides()[last] != 1 ||
      pairs.offset() % 2 != 0)
    return false;
  for (int d = 0; d < last; ++d)
    if (pairs.sizes()[d] > 1 && pairs.strides()[d] % 2 != 0) return false;
  return true;
}

}  // namespace fxjit::ops
