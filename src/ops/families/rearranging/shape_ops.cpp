// Ops that rearrange elements into a new tensor: joining, repeating, padding,
// masking triangles.
#include <cstring>

#include "fxjit/functions_structured.h"
#include "src/ops/families/elementwise/elementwise.h"
#include "src/ops/families/index/masked_rows.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/data_dependent.h"
#include "src/ops/table/families.h"
#include "src/ops/table/promote.h"

namespace fxjit::ops {
namespace {

// torch.cat passes over empty vectors, whatever the other tensors' rank.
bool skipped(const Tensor& tensor) {
  return tensor.dim() == 1 && tensor.sizes()[0] == 0;
}

struct Joined {
  Dims sizes;
  int axis = 0;
  DType dtype = DType::f32;
};

void check_joinable(const Tensor& first, const Tensor& other, int axis,
                    size_t position) {
  if (first.dim() != other.dim())
    runtime_error("Tensors must have same number of dimensions: got ",
                  first.dim(), " and ", other.dim());
  for (int d = 0; d < first.dim(); ++d)
    if (d != axis && first.sizes()[d] != other.sizes()[d])
      runtime_error("Sizes of tensors must match except in dimension ", axis,
                    ". Expected size ", first.sizes()[d], " but got size ",
                    other.sizes()[d], " for tensor number ", position,
                    " in the list.");
}

Joined joined_shape(const OpCall& call) {
  const std::vector<Tensor> tensors = tensors_arg(call, 0);
  if (tensors.empty())
    throw ValueError("torch.cat(): expected a non-empty list of Tensors");
  const Tensor* first = &tensors[0];
  for (const Tensor& tensor : tensors)
    if (skipped(*first) && !skipped(tensor)) first = &tensor;
  Joined result;
  result.sizes = first->sizes();
  if (first->dim() == 0)
    runtime_error("zero-dimensional tensor (at position ",
                  first - tensors.data(), ") cannot be concatenated");
  result.axis = dim_arg(call, 1, first->dim());
  result.sizes[result.axis] = 0;
  Promotion promotion;
  for (size_t i = 0; i < tensors.size(); ++i) {
    promotion.add(tensors[i]);
    if (skipped(tensors[i])) continue;
    check_joinable(*first, tensors[i], result.axis, i);
    result.sizes[result.axis] += tensors[i].sizes()[result.axis];
  }
  result.dtype = *promotion.result();
  return result;
}

Value infer_cat(const OpCall& call) {
  const Joined shape = joined_shape(call);
  return Tensor::meta(shape.sizes, shape.dtype);
}

Value eager_cat(const OpCall& call) {
  const Joined shape = joined_shape(call);
  const Tensor out = Tensor::empty(shape.sizes, shape.dtype);
  int64_t start = 0;
  for (const Tensor& tensor : tensors_arg(call, 0)) {
    if (skipped(tensor)) continue;
    out.as_strided(tensor.sizes(), out.strides(),
                   start * out.strides()[shape.axis])
        .copy_from(tensor);
    start += tensor.sizes()[shape.axis];
  }
  return out;
}

// The tensors joined along the dim that the new one is put before, which
// PyTorch does to keep orders of memory: that of channels last stays.
Value stacked_within(const Value& tensors, int axis, const Dims& sizes) {
  Dims split = sizes;
  split.insert(axis, tensors.size());
  return fxjit::reshape(fxjit::cat(tensors, axis), split);
}

Value decompose_stack(const OpCall& call) {
  const ValueList& tensors = call[0].as_sequence();
  if (tensors.empty()) runtime_error("stack expects a non-empty TensorList");
  const Dims first = meta_of(tensors[0]).sizes();
  const int axis = wrap_dim(call.integer(1), first.size() + 1);
  ValueList columns;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Dims sizes = meta_of(tensors[i]).sizes();
    if (!(sizes == first))
      runtime_error("stack expects each tensor to be equal size, but got ",
                    first, " at entry 0 and ", sizes, " at entry ", i);
    columns.push_back(fxjit::unsqueeze(tensors[i], axis));
  }
  if (axis < first.size() && !meta_of(tensors[0]).is_contiguous())
    return stacked_within(call[0], axis, first);
  return fxjit::cat(Value::list(std::move(columns)), axis);
}

// `count` copies of each line along `axis`: [.., n, ..] as [.., count, n, ..]
// (a block repeated) or [.., n, count, ..] (each element repeated), joined.
Value copies_along(const Value& value, int axis, Size count,
                   bool each_element) {
  Dims sizes = meta_of(value).sizes();
  Dims wide = sizes;
  wide.insert(each_element ? axis + 1 : axis, count);
  const Value spread = fxjit::expand(
      fxjit::unsqueeze(value, each_element ? axis + 1 : axis), wide);
  sizes[axis] = numel({sizes[axis], count});
  return fxjit::reshape(spread, sizes);
}

// Never a view of what is repeated, even where every count is 1 or every size
// is. Elements repeated in memory of their own were copied.
Value with_own_memory(const Value& value, bool repeated) {
  const Tensor meta = meta_of(value);
  const bool copied = repeated && meta.numel() > 0 && meta.is_contiguous();
  return copied ? value : method(value, "clone");
}

Value decompose_repeat(const OpCall& call) {
  const Dims repeats = call.dims(1);
  Value value = call[0];
  const Tensor input = meta_of(value);
  if (repeats.size() < input.dim())
    runtime_error(
        "Number of dimensions of repeat dims can not be smaller than number "
        "of dimensions of tensor");
  for (const Size count : repeats)
    if (count < 0)
      runtime_error("Trying to create tensor with negative dimension ", count,
                    ": ", repeats);
  for (int d = input.dim(); d < repeats.size(); ++d)
    value = fxjit::unsqueeze(value, 0);
  for (int d = repeats.size() - 1; d >= 0; --d)
    if (repeats[d] != 1) value = copies_along(value, d, repeats[d], false);
  return with_own_memory(value, numel(repeats) > 1);
}

Value decompose_repeat_interleave(const OpCall& call) {
  if (call[1].is_tensor() || call[1].is_proxy())
    return call_row("fxjit.repeat_by", {call[0], call[1], call[2]});
  const Size count = call.size(1);
  if (count < 0) runtime_error("repeats must be non-negative");
  Value value = call[0];
  if (!call.has(2)) value = fxjit::flatten(value);
  // torch repeats along a new dim behind, which a number has no place for.
  if (meta_of(value).dim() == 0) wrap_dim(1, 0);
  const int axis = call.has(2) ? dim_arg(call, 2, meta_of(value).dim()) : 0;
  return with_own_memory(copies_along(value, axis, count, true), count > 1);
}

Value infer_flip(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  axes_arg(call, 1, input.dim());
  return Tensor::meta(input.sizes(), input.dtype());
}

Value eager_flip(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  if (input.numel() == 0) return input.clone();
  Dims strides = input.strides();
  int64_t offset = input.offset();
  const Dims axes = call[1].is_sequence() && call[1].size() == 0
                        ? Dims()
                        : axes_arg(call, 1, input.dim());
  for (int64_t axis : axes) {
    offset += (input.sizes()[axis] - 1) * strides[axis];
    strides[axis] = -strides[axis];
  }
  const Tensor out = Tensor::empty(input.sizes(), input.dtype());
  out.copy_from(input.as_strided(input.sizes(), strides, offset));
  return out;
}

Value infer_roll(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  const Dims shifts = call.dims(1), dims = call.dims(2);
  if (shifts.empty()) runtime_error("`shifts` required");
  if (dims.empty() && shifts.size() != 1)
    runtime_error("shifts and dimensions must align. shifts: ", shifts.size(),
                  ", dims:0");
  if (!dims.empty() && shifts.size() != dims.size())
    runtime_error("shifts and dimensions must align. shifts: ", shifts.size(),
                  ", dims:", dims.size());
  for (int64_t dim : dims) wrap_dim(dim, input.dim());
  return Tensor::meta(input.sizes(), input.dtype());
}

int64_t wrapped(int64_t shift, int64_t size) {
  return ((shift % size) + size) % size;
}

Tensor rolled(const Tensor& input, int axis, int64_t shift) {
  const int64_t size = input.sizes()[axis];
  const int64_t start = wrapped(shift, size);
  const Tensor out = Tensor::empty(input.sizes(), input.dtype());
  const auto copy = [&](int64_t from, int64_t to, int64_t count) {
    Dims sizes = input.sizes();
    sizes[axis] = count;
    out.as_strided(sizes, out.strides(), to * out.strides()[axis])
        .copy_from(
            input.as_strided(sizes, input.strides(),
                             input.offset() + from * input.strides()[axis]));
  };
  copy(0, start, size - start);
  if (start > 0) copy(size - start, 0, start);
  return out;
}

Value eager_roll(const OpCall& call) {
  infer_roll(call);
  const Tensor& input = call.tensor(0);
  if (input.numel() == 0 || input.dim() == 0) return input.clone();
  const Dims shifts = call.dims(1), dims = call.dims(2);
  if (dims.empty()) {
    const Tensor flat = input.contiguous();
    const Tensor line = flat.as_strided({flat.numel()}, {1}, flat.offset());
    return rolled(line, 0, shifts[0])
        .as_strided(input.sizes(), contiguous_strides(input.sizes()), 0);
  }
  Tensor value = input;
  for (int i = 0; i < dims.size(); ++i)
    value = rolled(value, wrap_dim(dims[i], input.dim()), shifts[i]);
  return value;
}

// The end of each line in front of its beginning.
Value decompose_roll(const OpCall& call) {
  const Tensor input = meta_of(call[0]);
  const Dims shifts = call.dims(1), dims = call.dims(2);
  if (input.numel() == 0 || input.dim() == 0) return method(call[0], "clone");
  Value value = dims.empty() ? fxjit::flatten(call[0]) : call[0];
  bool moved = false;
  for (int i = 0; i < shifts.size(); ++i) {
    const int axis = dims.empty() ? 0 : wrap_dim(dims[i], input.dim());
    const int64_t size = meta_of(value).sizes()[axis];
    const int64_t start = wrapped(shifts[i], size);
    moved = moved || start != 0;
    if (start != 0)
      value = fxjit::cat({fxjit::narrow(value, axis, size - start, start),
                          fxjit::narrow(value, axis, 0, size - start)},
                         axis);
  }
  if (dims.empty()) value = fxjit::reshape(value, input.sizes());
  return moved ? value : method(value, "clone");
}

Value infer_triangle(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  if (input.dim() < 2)
    runtime_error(call.op.row.name,
                  ": input tensor must have at least 2 dimensions");
  return Tensor::meta(input.sizes(), input.dtype());
}

template <bool kLower>
Scalar triangle(ScalarBuilder& b, const OpCall& call, Inputs in) {
  const int rank = call.tensor(0).dim();
  const Scalar diagonal = b.constant_int(call.integer(1), DType::i64);
  const Scalar row = b.index(rank - 2), column = b.index(rank - 1);
  const Scalar kept =
      b.apply(kLower ? Prim::le : Prim::ge, column - row, diagonal);
  return b.select(kept, in[0], b.constant(0, in[0].type()));
}

Value rot90(const OpCall& call) {
  const int rank = meta_of(call[0]).dim();
  const Dims dims = call.dims(2);
  if (dims.size() != 2)
    runtime_error("expected total rotation dims == 2, but got dims = ",
                  dims.size());
  if (rank < 2)
    runtime_error("expected total dims >= 2, but got total dims = ", rank);
  if (wrap_dim(dims[0], rank) == wrap_dim(dims[1], rank))
    runtime_error("expected rotation dims to be different, but got dim0 = ",
                  dims[0], " and dim1 = ", dims[1]);
  const int a = wrap_dim(dims[0], rank), b = wrap_dim(dims[1], rank);
  switch (((call.integer(1) % 4) + 4) % 4) {
    case 1:
      return fxjit::transpose(fxjit::flip(call[0], {b}), a, b);
    case 2:
      return fxjit::flip(call[0], {a, b});
    case 3:
      return fxjit::transpose(fxjit::flip(call[0], {a}), a, b);
    default:
      return method(call[0], "clone");
  }
}

template <int kAxis>
Value flipped(const OpCall& call) {
  return fxjit::flip(call[0], {kAxis});
}

Value infer_masked_select(const OpCall& call) {
  throw DataDependentError(
      "masked_select: expected a result of known shape, got one that depends "
      "on the data; it runs eagerly only (" +
      call.tensor(0).describe() + ")");
}

Value eager_masked_select(const OpCall& call) {
  if (call.tensor(1).dtype() != DType::boolean)
    runtime_error("masked_select: expected BoolTensor for mask");
  const Dims shape =
      broadcast_shapes(call.tensor(0).sizes(), call.tensor(1).sizes());
  const Tensor mask = Tensor::empty(shape, DType::boolean);
  mask.copy_from(call.tensor(1));
  const Tensor all = Tensor::empty(shape, call.tensor(0).dtype());
  all.copy_from(call.tensor(0));
  if (shape.size() > 0) return masked_rows(all, mask);
  const Dims one{1};
  return masked_rows(all.as_strided(one, one, 0), mask.as_strided(one, one, 0));
}

template <bool kLower>
constexpr OpRow triangle_row(const char* name, const char* names) {
  return custom_row(name, "input, diagonal=0", names, infer_triangle,
                    triangle<kLower>);
}

// Turns by nothing are copies.
Layout layout_of_rot90(const OpCall& call) {
  return call.integer(1) % 4 == 0 ? Layout::plain : Layout::stated;
}

// Without dims the flattened tensor is rolled.
Layout layout_of_roll(const OpCall& call) {
  const bool flattened = call[2].is_sequence() && call[2].size() == 0;
  return flattened ? Layout::plain : Layout::joined;
}

constexpr OpRow kShapeOpsRows[] = {
    lowered_row("cat", "tensors, dim=0",
                "torch.cat torch.concat torch.concatenate", Lowering::cat,
                infer_cat, eager_cat)
        .stating({.layout = Layout::joined, .sizes = {SizeKind::joined}}),
    composed_row("stack", "tensors, dim=0", "torch.stack", decompose_stack),
    composed_row("repeat", "input, *repeats", ".repeat", decompose_repeat)
        .stating({.layout = Layout::plain}),
    composed_row("repeat_interleave",
                 "input, repeats, dim=None, *, output_size=None",
                 "torch.repeat_interleave .repeat_interleave",
                 decompose_repeat_interleave)
        .stating({.layout = Layout::plain}),
    made_row("flip", "input, *dims", "torch.flip .flip", infer_flip, eager_flip)
        .stating({.layout = Layout::first}),
    made_row("roll", "input, shifts, dims=()", "torch.roll .roll", infer_roll,
             eager_roll, decompose_roll)
        .stating({.layout_of = layout_of_roll}),
    composed_row("rot90", "input, k=1, dims=(0, 1)", "torch.rot90 .rot90",
                 rot90)
        .stating({.layout_of = layout_of_rot90}),
    composed_row("fliplr", "input", "torch.fliplr .fliplr", flipped<1>),
    composed_row("flipud", "input", "torch.flipud .flipud", flipped<0>),
    triangle_row<true>("tril", "torch.tril .tril")
        .stating({.layout = Layout::plain}),
    triangle_row<false>("triu", "torch.triu .triu")
        .stating({.layout = Layout::plain}),
    made_row("masked_select", "input, mask",
             "torch.masked_select .masked_select", infer_masked_select,
             eager_masked_select),
};

}  // namespace

std::span<const OpRow> shape_op_rows() { return kShapeOpsRows; }

}  // namespace fxjit::ops
