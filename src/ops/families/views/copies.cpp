// What views give, in memory of its own: torch's functions whose names end in
// _copy, and `copy`, which gives the numbers of one tensor with the shape and
// dtype of another.
#include "fxjit/functions_structured.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

Value in_own_memory(const Value& view) {
  return method(view, meta_of(view).is_contiguous() ? "clone" : "contiguous");
}

// view_copy(dtype).
bool is_of_type(const OpCall& call) {
  return call[1].is_sequence() && call[1].size() == 1 &&
         call[1].at(0).is_dtype();
}

// The view op that a row's name says: "permute" of "permute_copy".
const Op& viewing_op(const OpCall& call) {
  constexpr std::string_view kEnd = "_copy";
  std::string_view name = call.op.name();
  name.remove_suffix(kEnd.size());
  if (name == "view" && !is_of_type(call)) name = "reshape";
  if (name == "alias") name = "detach";
  if (name == "unfold") name = "unfold_method";
  return get_op(name);
}

Value view_copy(const OpCall& call) {
  const ValueList args(call.args.begin(), call.args.end());
  const Value views = call_function(viewing_op(call).canonical, args);
  if (!views.is_sequence()) return in_own_memory(views);
  ValueList copies;
  for (const Value& view : views.as_sequence())
    copies.push_back(in_own_memory(view));
  return Value::tuple(std::move(copies));
}

// copy(input, src): the numbers of `src`, with the input's shape and type.
Value copy(const OpCall& call) {
  const Tensor input = meta_of(call[0]);
  return fxjit::clone(
      fxjit::expand(cast_to(call[1], input.dtype()), input.sizes()));
}

constexpr OpRow copy_row(const char* name, const char* schema,
                         const char* names) {
  return composed_row(name, schema, names, view_copy);
}

constexpr OpRow kCopiesRows[] = {
    copy_row("alias_copy", "input", "torch.alias_copy torch.detach_copy"),
    copy_row("as_strided_copy", "input, size, stride, storage_offset=None",
             "torch.as_strided_copy"),
    copy_row("diagonal_copy", "input, offset=0, dim1=0, dim2=1",
             "torch.diagonal_copy"),
    copy_row("expand_copy", "input, size", "torch.expand_copy"),
    copy_row("permute_copy", "input, dims", "torch.permute_copy"),
    copy_row("select_copy", "input, dim, index", "torch.select_copy"),
    copy_row("slice_copy", "input, dim=0, start=None, end=None, step=1",
             "torch.slice_copy"),
    copy_row("split_copy", "input, split_size, dim=0",
             "torch.split_copy torch.split_with_sizes_copy"),
    copy_row("squeeze_copy", "input, dim=None", "torch.squeeze_copy"),
    copy_row("t_copy", "input", "torch.t_copy"),
    copy_row("transpose_copy", "input, dim0, dim1", "torch.transpose_copy"),
    copy_row("unbind_copy", "input, dim=0", "torch.unbind_copy"),
    copy_row("unfold_copy", "input, dimension, size, step",
             "torch.unfold_copy"),
    copy_row("unsqueeze_copy", "input, dim", "torch.unsqueeze_copy"),
    copy_row("view_copy", "input, size", "torch.view_copy"),
    composed_row("copy", "input, src", "", copy)
        .stating({.layout = Layout::first, .copied = 1}),
};

}  // namespace

std::span<const OpRow> copy_rows() { return kCopiesRows; }

}  // namespace fxjit::ops
