// Views that keep or regroup whole dims. Each shape rule returns sizes, strides
// and offset relative to the input's storage; no code runs.
#include "src/ops/families/shared/structured.h"
#include "src/ops/families/views/view_rules.h"
#include "src/ops/table/families.h"
#include "src/ops/table/op_call.h"

namespace fxjit::ops {
namespace {

Tensor viewed(const Tensor& input, const Dims& shape) {
  const Dims sizes = resolved_shape(shape, input.numel());
  const auto strides = view_strides(input.sizes(), input.strides(), sizes);
  if (!strides)
    runtime_error(
        "view size is not compatible with input tensor's size and stride (at "
        "least one dimension spans across two contiguous subspaces). Use "
        ".reshape(...) instead.");
  return view_of(input, sizes, *strides);
}

void check_widths(const Tensor& input) {
  if (input.dim() == 0)
    runtime_error(
        "self.dim() cannot be 0 to view it as a type of another size");
  if (input.stride(-1) != 1)
    runtime_error(
        "self.stride(-1) must be 1 to view it as a type of another size, but "
        "got ",
        std::to_string(input.stride(-1)));
}

// The bytes as elements that are `count` times smaller.
Tensor in_smaller(const Tensor& input, DType dtype, int64_t count) {
  Dims sizes = input.sizes(), strides = input.strides();
  const int last = input.dim() - 1;
  for (int d = 0; d < last; ++d) strides[d] *= count;
  sizes[last] *= count;
  return Tensor::meta(sizes, dtype, strides, input.offset() * count);
}

// As elements that are `count` times larger.
Tensor in_larger(const Tensor& input, DType dtype, int64_t count) {
  const auto divided = [&](int64_t number, const char* what) {
    if (number % count != 0)
      runtime_error("self.", what, " must be divisible by ",
                    std::to_string(count), " to view it as ",
                    std::string(dtype_name(dtype)), ", but got ",
                    std::to_string(number));
    return number / count;
  };
  Dims sizes = input.sizes(), strides = input.strides();
  const int last = input.dim() - 1;
  sizes[last] = divided(sizes[last], "size(-1)");
  const int64_t offset = divided(input.offset(), "storage_offset()");
  for (int d = 0; d < last; ++d) strides[d] = divided(strides[d], "stride(d)");
  return Tensor::meta(sizes, dtype, strides, offset);
}

Tensor viewed_as(const Tensor& input, DType dtype) {
  const auto from = static_cast<int64_t>(input.item_size());
  const auto to = static_cast<int64_t>(dtype_size(dtype));
  if (from == to)
    return Tensor::meta(input.sizes(), dtype, input.strides(), input.offset());
  check_widths(input);
  return from > to ? in_smaller(input, dtype, from / to)
                   : in_larger(input, dtype, to / from);
}

// view(size) and view(dtype).
Value infer_view(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  if (call[1].size() == 1 && call[1].at(0).is_dtype())
    return viewed_as(input, call[1].at(0).as_dtype());
  return viewed(input, call.dims(1));
}

Value eager_view(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  const Tensor shape = infer_view(call).as_tensor();
  return Tensor::view(input.storage(), shape.sizes(), shape.dtype(),
                      shape.strides(), shape.offset());
}

Value infer_view_as(const OpCall& call) {
  return viewed(call.tensor(0), call.tensor(1).sizes());
}

Value infer_reshape(const OpCall& call) {
  return reshaped(call.tensor(0),
                  resolved_shape(call.dims(1), call.tensor(0).numel()));
}

Value infer_reshape_as(const OpCall& call) {
  return reshaped(call.tensor(0), resolved_shape(call.tensor(1).sizes(),
                                                 call.tensor(0).numel()));
}

Value infer_flatten(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  const int first = dim_arg(call, 1, input.dim());
  const int last = dim_arg(call, 2, input.dim());
  if (first > last)
    runtime_error(
        "flatten() has invalid args: start_dim cannot come after end_dim");
  if (input.dim() == 0) return view_of(input, {1}, {1});
  if (first == last) return view_of(input, input.sizes(), input.strides());
  Dims sizes;
  Dims joined;
  for (int d = 0; d < input.dim(); ++d) {
    if (d < first || d > last) {
      sizes.push_back(input.sizes()[d]);
      continue;
    }
    joined.push_back(input.sizes()[d]);
    if (d == last) sizes.push_back(numel(joined));
  }
  return reshaped(input, sizes);
}

Value infer_unflatten(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  const int axis = dim_arg(call, 1, input.dim());
  const Dims parts = call.dims(2);
  if (parts.empty()) runtime_error("unflatten: sizes must be non-empty");
  const Size size = input.size(axis);
  Size known = 1;
  int inferred = -1;
  bool misfits = false;
  for (int i = 0; i < parts.size(); ++i) {
    if (parts[i] == -1 && inferred >= 0)
      runtime_error("only one dimension can be inferred");
    if (parts[i] == -1)
      inferred = i;
    else
      misfits |= parts[i] < 0 || mul_overflow(known, parts[i], &known);
  }
  const bool fits = !misfits && (inferred < 0 ? known == size
                                              : known > 0 && size % known == 0);
  if (!fits)
    runtime_error("unflatten: Provided sizes ", parts,
                  " don't multiply up to the size of dim ", axis, " (", size,
                  ") in the input tensor");
  Dims sizes;
  for (int d = 0; d < input.dim(); ++d) {
    if (d != axis) {
      sizes.push_back(input.sizes()[d]);
      continue;
    }
    for (int i = 0; i < parts.size(); ++i)
      sizes.push_back(i == inferred ? size / known : parts[i]);
  }
  return view_of(input, sizes,
                 *view_strides(input.sizes(), input.strides(), sizes));
}

Value infer_permute(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  const Dims dims = call.dims(1);
  if (dims.size() != input.dim())
    runtime_error(
        "permute(sparse_coo): number of dimensions in the tensor input does "
        "not match the length of the desired ordering of dimensions i.e. "
        "input.dim() = ",
        input.dim(), " is not equal to len(dims) = ", dims.size());
  Dims order;
  for (Size dim : dims) {
    const int axis = wrap_dim(dim, input.dim());
    if (contains(order, axis))
      runtime_error("permute(): duplicate dims are not allowed.");
    order.push_back(axis);
  }
  return permuted(as_meta(input), order);
}

Value swapped(const Tensor& input, int a, int b) {
  Dims sizes = input.sizes(), strides = input.strides();
  if (input.dim() > 0) {
    std::swap(sizes[a], sizes[b]);
    std::swap(strides[a], strides[b]);
  }
  return view_of(input, sizes, strides);
}

Value infer_transpose(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  return swapped(input, dim_arg(call, 1, input.dim()),
                 dim_arg(call, 2, input.dim()));
}

Value infer_t(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  if (input.dim() > 2)
    runtime_error("t() expects a tensor with <= 2 dimensions, but self is ",
                  input.dim(), "D");
  return input.dim() < 2 ? view_of(input, input.sizes(), input.strides())
                         : swapped(input, 0, 1);
}

Value infer_movedim(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  const Dims from = axes_arg(call, 1, input.dim());
  const Dims to = axes_arg(call, 2, input.dim());
  if (from.size() != to.size())
    runtime_error(
        "movedim: Invalid source or destination dims: source (", from,
        " dims) should contain the same number of dims as destination (", to,
        " dims)");
  Dims order(input.dim(), -1);
  for (int i = 0; i < from.size(); ++i) order[to[i]] = from[i];
  int next = 0;
  for (int d = 0; d < input.dim(); ++d) {
    if (order[d] >= 0) continue;
    while (contains(from, next)) ++next;
    order[d] = next++;
  }
  return permuted(as_meta(input), order);
}

Value infer_expand(const OpCall& call) {
  return expanded(call.tensor(0), call.dims(1));
}

Value infer_expand_as(const OpCall& call) {
  return expanded(call.tensor(0), call.tensor(1).sizes());
}

Value infer_squeeze(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  const bool all = !call.has(1);
  const Dims axes = all || call[1].is_int() || call[1].size() > 0
                        ? axes_arg(call, 1, input.dim())
                        : Dims();
  Dims sizes, strides;
  for (int d = 0; d < input.dim(); ++d) {
    if (input.sizes()[d] == 1 && contains(axes, d)) continue;
    sizes.push_back(input.sizes()[d]);
    strides.push_back(input.strides()[d]);
  }
  return view_of(input, sizes, strides);
}

Value infer_unsqueeze(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  return unsqueezed(input, wrap_dim(call.integer(1), input.dim() + 1));
}

struct Reach {
  ExactInt first, last;
};

Reach reach_of(const Dims& sizes, const Dims& strides, Size offset) {
  Reach reach{offset, offset};
  for (int d = 0; d < sizes.size(); ++d)
    (strides[d] < 0 ? reach.first : reach.last) +=
        ExactInt(sizes[d] - 1) * strides[d];
  return reach;
}

// The storage behind a shape is not known: only the input's own elements are
// certain to exist. (With data the view itself checks the storage.)
void check_inside(const Tensor& input, const Dims& sizes, const Dims& strides,
                  Size offset) {
  if (numel(sizes) == 0) return;
  const Reach wanted = reach_of(sizes, strides, offset);
  const Reach known = reach_of(input.sizes(), input.strides(), input.offset());
  if (input.numel() == 0 || wanted.first < known.first ||
      wanted.last > known.last)
    throw NotImplementedError(concat(
        "as_strided: expected a view inside its input ", input.describe(),
        ", got sizes ", sizes, ", strides ", strides, ", offset ", offset));
}

Value infer_as_strided(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  const Dims sizes = call.dims(1), strides = call.dims(2);
  if (sizes.size() != strides.size())
    runtime_error("mismatch in length of strides and shape");
  for (Size size : sizes)
    if (size < 0)
      runtime_error("as_strided: negative sizes are not supported, got ",
                    sizes);
  for (Size stride : strides)
    if (stride < 0)
      runtime_error(
          "as_strided: Negative strides are not supported at the moment, got "
          "strides: ",
          strides);
  const Size offset = call.has(3) ? call.size(3) : input.offset();
  if (offset < 0) runtime_error("Tensor: invalid storage offset ", offset);
  if (input.is_meta()) check_inside(input, sizes, strides, offset);
  return Tensor::meta(sizes, input.dtype(), strides, offset);
}

Value infer_diagonal(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  const int a = dim_arg(call, 2, input.dim()),
            b = dim_arg(call, 3, input.dim());
  if (a == b)
    runtime_error("diagonal dimensions cannot be identical ", call.integer(2),
                  ", ", call.integer(3));
  const Size shift = larger(call.size(1), -INT64_MAX);
  const Size down = std::max<Size>(-shift, 0);
  const Size right = std::max<Size>(shift, 0);
  const Size length = std::max<Size>(
      0, std::min(input.sizes()[a] - down, input.sizes()[b] - right));
  Dims sizes, strides;
  for (int d = 0; d < input.dim(); ++d) {
    if (d == a || d == b) continue;
    sizes.push_back(input.sizes()[d]);
    strides.push_back(input.strides()[d]);
  }
  sizes.push_back(length);
  strides.push_back(ExactInt(input.strides()[a]) + input.strides()[b]);
  Size offset = input.offset();
  if (length > 0)
    offset += down * input.strides()[a] + right * input.strides()[b];
  return Tensor::meta(sizes, input.dtype(), strides, offset);
}

constexpr OpRow reshape(const char* name, const char* schema, const char* names,
                        InferFn infer) {
  OpRow row = view_row(name, schema, names, infer);
  row.lowering = Lowering::reshape;
  return row;
}

constexpr OpRow kViewsRows[] = {
    lowered_row("view", "input, *size", ".view", Lowering::view, infer_view,
                eager_view)
        .stating({.sizes = {SizeKind::reshaped, 1}}),
    view_row("view_as", "input, other", ".view_as", infer_view_as),
    reshape("reshape", "input, *shape", "torch.reshape .reshape", infer_reshape)
        .stating({.sizes = {SizeKind::reshaped, 1}}),
    reshape("reshape_as", "input, other", ".reshape_as", infer_reshape_as),
    reshape("flatten", "input, start_dim=0, end_dim=-1",
            "torch.flatten .flatten nn.Flatten", infer_flatten),
    view_row("unflatten", "input, dim, sizes", "torch.unflatten .unflatten",
             infer_unflatten),
    view_row("permute", "input, *dims", "torch.permute .permute", infer_permute)
        .stating({.sizes = {SizeKind::permuted, 1}}),
    view_row("transpose", "input, dim0, dim1",
             "torch.transpose .transpose torch.swapaxes .swapaxes "
             "torch.swapdims .swapdims",
             infer_transpose),
    view_row("t", "input", "torch.t .t", infer_t),
    view_row("movedim", "input, source, destination",
             "torch.movedim .movedim torch.moveaxis .moveaxis", infer_movedim),
    view_row("expand", "input, *size, implicit=False", ".expand", infer_expand)
        .stating({.sizes = {SizeKind::listed, 1}}),
    view_row("expand_as", "input, other", ".expand_as", infer_expand_as),
    view_row("squeeze", "input, dim=None", "torch.squeeze .squeeze",
             infer_squeeze),
    view_row("unsqueeze", "input, dim", "torch.unsqueeze .unsqueeze",
             infer_unsqueeze)
        .stating({.sizes = {SizeKind::inserted, 1}}),
    view_row("as_strided", "input, size, stride, storage_offset=None",
             "torch.as_strided .as_strided", infer_as_strided)
        .stating({.aliasing = Aliasing::places}),
    view_row("diagonal", "input, offset=0, dim1=0, dim2=1",
             "torch.diagonal .diagonal", infer_diagonal),
};

}  // namespace

std::span<const OpRow> view_rows() { return kViewsRows; }

}  // namespace fxjit::ops
