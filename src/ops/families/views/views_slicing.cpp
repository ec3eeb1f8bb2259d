// Views of parts of a tensor: select, slice, split and their kin. Those that
// give several views return a tuple.
#include "src/ops/families/shared/structured.h"
#include "src/ops/families/views/view_rules.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

Value infer_select(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  if (input.dim() == 0)
    throw IndexError("select() cannot be applied to a 0-dim tensor.");
  const int axis = dim_arg(call, 1, input.dim());
  const Size index = call.size(2), size = input.sizes()[axis];
  if (index < -size || index >= size)
    throw IndexError("select(): index " + std::to_string(index) +
                     " out of range for tensor of size " + input.sizes().str() +
                     " at dimension " + std::to_string(axis));
  return selected(input, axis, index);
}

Value infer_slice(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  if (input.dim() == 0)
    runtime_error("slice() cannot be applied to a 0-dim tensor.");
  const Size step = call.size(4);
  if (step <= 0) runtime_error("slice step must be positive");
  return sliced(input, dim_arg(call, 1, input.dim()), call[2], call[3], step);
}

Value infer_narrow(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  if (input.dim() == 0)
    runtime_error("narrow() cannot be applied to a 0-dim tensor.");
  const int axis = dim_arg(call, 1, input.dim());
  const Size size = input.sizes()[axis], length = call.size(3);
  Size start = call.size(2);
  if (length < 0) runtime_error("narrow(): length must be non-negative.");
  if (start < -size || start > size)
    throw IndexError(concat("start out of range (expected to be in range of [",
                            -size, ", ", size, "], but got ", start, ")"));
  if (start < 0) start += size;
  if (length > size - start)
    runtime_error("start (", start, ") + length (", length,
                  ") exceeds dimension size (", size, ").");
  return range_of(input, axis, start, length);
}

Value pieces(const OpCall& call, int axis, Size length) {
  const Tensor& input = call.tensor(0);
  const Size size = input.sizes()[axis];
  if (size > 0) check_pieces(call, (size - 1) / length + 1);
  ValueList views;
  for (Size start = 0, part = 0; start < size; start += part) {
    part = std::min(length, size - start);
    views.push_back(range_of(input, axis, start, part));
  }
  if (size == 0) views.push_back(range_of(input, axis, 0, 0));
  return Value::tuple(std::move(views));
}

Value pieces(const Tensor& input, int axis, const Value& lengths) {
  Size start = 0;
  std::string text = "[";
  ValueList views;
  bool fits = true;
  for (const Value& item : lengths.as_sequence()) {
    const Size length = item.as_size();
    text += (text.size() > 1 ? ", " : "") + to_string(length);
    if (length < 0)
      runtime_error(
          "split_with_sizes expects split_sizes have only non-negative "
          "entries, but got split_sizes=",
          repr(lengths));
    fits = fits && length <= input.sizes()[axis] - start;
    if (fits) {
      views.push_back(range_of(input, axis, start, length));
      start += length;
    }
  }
  if (!fits || start != input.sizes()[axis])
    runtime_error("split_with_sizes expects split_sizes to sum exactly to ",
                  input.sizes()[axis], " (input tensor's size at dimension ",
                  axis, "), but got split_sizes=", text, "]");
  return Value::tuple(std::move(views));
}

Value infer_split(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  if (input.dim() == 0)
    runtime_error("split expects at least a 1-dimensional tensor");
  const int axis = dim_arg(call, 2, input.dim());
  if (call[1].is_sequence()) return pieces(input, axis, call[1]);
  const Size length = call.size(1);
  if (length < 0)
    runtime_error(
        "split expects split_size be non-negative, but got split_size=",
        length);
  if (length == 0 && input.sizes()[axis] != 0)
    runtime_error(
        "split_size can only be 0 if dimension size is 0, but got dimension "
        "size of ",
        input.sizes()[axis]);
  return pieces(call, axis, length);
}

Value infer_chunk(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  if (input.dim() == 0)
    runtime_error("chunk expects at least a 1-dimensional tensor");
  const Size chunks = call.size(1);
  if (chunks <= 0)
    runtime_error("chunk expects `chunks` to be greater than 0, got: ", chunks);
  const int axis = dim_arg(call, 2, input.dim());
  const Size size = input.sizes()[axis];
  if (size > 0) return pieces(call, axis, (size - 1) / chunks + 1);
  check_pieces(call, chunks);
  return Value::tuple(ValueList(static_cast<size_t>(chunks),
                                Value(range_of(input, axis, 0, 0))));
}

Value infer_unbind(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  if (input.dim() == 0)
    throw IndexError(concat("Dimension specified as ", call.integer(1),
                            " but tensor has no dimensions"));
  const int axis = dim_arg(call, 1, input.dim());
  check_pieces(call, input.sizes()[axis]);
  ValueList views;
  for (Size i = 0; i < input.sizes()[axis]; ++i)
    views.push_back(selected(input, axis, i));
  return Value::tuple(std::move(views));
}

constexpr OpRow kViewsSlicingRows[] = {
    view_row("select", "input, dim, index", "torch.select .select",
             infer_select),
    view_row("slice", "input, dim=0, start=None, end=None, step=1", "",
             infer_slice),
    view_row("narrow", "input, dim, start, length", "torch.narrow .narrow",
             infer_narrow),
    view_row("split", "tensor, split_size_or_sections, dim=0",
             "torch.functional.split!", infer_split),
    // The method calls its parameter otherwise.
    view_row("split_method", "input, split_size, dim=0", ".split", infer_split),
    view_row("chunk", "input, chunks, dim=0", "torch.chunk .chunk",
             infer_chunk),
    view_row("unbind", "input, dim=0", "torch.unbind .unbind", infer_unbind),
};

}  // namespace

std::span<const OpRow> slicing_rows() { return kViewsSlicingRows; }

}  // namespace fxjit::ops
