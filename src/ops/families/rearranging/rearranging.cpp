// Ops that put tensors beside each other, spread them and turn them, all
// composed of views, cat and products.
#include <algorithm>

#include "fxjit/functions_structured.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

Value expanded_value(const Value& x, const Dims& sizes) {
  return fxjit::expand(x, sizes);
}

Value reshaped_value(const Value& x, const Dims& sizes) {
  return fxjit::reshape(x, sizes);
}

// Tensors given one by one or as one sequence.
ValueList tensors_of(const Value& given) {
  const ValueList items = given.as_sequence();
  return items.size() == 1 && items[0].is_sequence() ? items[0].as_sequence()
                                                     : items;
}

Value broadcast_to(const OpCall& call) {
  return fxjit::expand(call[0], call[1]);
}

Value broadcast_tensors(const OpCall& call) {
  const ValueList items = tensors_of(call[0]);
  Dims common;
  for (const Value& item : items)
    common = broadcast_shapes(common, meta_of(item).sizes());
  ValueList result;
  for (const Value& item : items)
    result.push_back(expanded_value(item, common));
  return Value::tuple(std::move(result));
}

Value tile(const OpCall& call) {
  const Tensor input = meta_of(call[0]);
  const Dims given = flat_dims(call[1]);
  ValueList repeats(
      static_cast<size_t>(std::max(0, input.dim() - given.size())), Value(1));
  for (int64_t count : given) repeats.push_back(count);
  return fxjit::repeat(call[0], Value::tuple(std::move(repeats)));
}

Value meshgrid(const OpCall& call) {
  const ValueList items = tensors_of(call[0]);
  const int rank = static_cast<int>(items.size());
  Dims sizes;
  for (const Value& item : items) sizes.push_back(meta_of(item).numel());
  const bool swap = rank > 1 && call.has(1) && same(call[1], "xy");
  if (swap) std::swap(sizes[0], sizes[1]);
  ValueList result;
  for (int i = 0; i < rank; ++i) {
    const int axis = swap && i < 2 ? 1 - i : i;
    Dims shape(rank, 1);
    shape[axis] = sizes[axis];
    result.push_back(expanded_value(
        reshaped_value(items[static_cast<size_t>(i)], shape), sizes));
  }
  return Value::tuple(std::move(result));
}

// torch.atleast_1d and its kin: where new dims go depends on the rank.
Value with_rank(const Value& x, int rank) {
  const Dims sizes = meta_of(x).sizes();
  if (sizes.size() >= rank) return x;
  if (rank == 3 && sizes.size() == 2) return fxjit::unsqueeze(x, -1);
  if (rank == 3 && sizes.size() == 1)
    return reshaped_value(x, Dims{1, sizes[0], 1});
  Dims shape(rank, 1);
  if (sizes.size() == 1) shape[rank - 1] = sizes[0];
  return reshaped_value(x, shape);
}

template <int kRank>
Value atleast(const OpCall& call) {
  const ValueList items = call[0].as_sequence();
  if (items.size() == 1 && !items[0].is_sequence())
    return with_rank(items[0], kRank);
  ValueList result;
  for (const Value& item : tensors_of(call[0]))
    result.push_back(with_rank(item, kRank));
  return Value::tuple(std::move(result));
}

// hstack, vstack, dstack, column_stack.
template <int kRank, int kAxis>
Value stacked(const OpCall& call) {
  ValueList items;
  int rank = kRank;
  for (const Value& item : call[0].as_sequence()) {
    items.push_back(with_rank(item, kRank));
    rank = meta_of(items.back()).dim();
  }
  const int axis = kRank == 1 && rank == 1 ? 0 : kAxis;
  return fxjit::cat(Value::list(std::move(items)), axis);
}

Value column_stack(const OpCall& call) {
  ValueList items;
  for (const Value& item : call[0].as_sequence()) {
    const Tensor meta = meta_of(item);
    items.push_back(
        meta.dim() > 1 ? item : reshaped_value(item, Dims{meta.numel(), 1}));
  }
  return fxjit::cat(Value::list(std::move(items)), 1);
}

// A view of contiguous tensors only, where reshape allows even steps.
Value ravel(const OpCall& call) {
  return fxjit::reshape(method(call[0], "contiguous"), {-1});
}

Value tensor_split_along(const OpCall& call, int axis) {
  const Value &x = call[0], &how = call[1];
  const int64_t size = meta_of(x).sizes()[axis];
  std::vector<int64_t> bounds;
  if (how.is_int()) {
    const int64_t parts = how.as_int();
    check_pieces(call, parts);
    if (parts <= 0)
      runtime_error("number of sections must be larger than 0, got ", parts);
    int64_t at = 0;
    for (int64_t i = 0; i + 1 < parts; ++i)
      bounds.push_back(at += size / parts + (i < size % parts));
  } else {
    for (const Value& item : how.as_sequence()) {
      const int64_t at = item.as_int();
      bounds.push_back(std::clamp<int64_t>(at < 0 ? at + size : at, 0, size));
    }
  }
  ValueList result;
  int64_t start = 0;
  for (int64_t end : bounds) {
    result.push_back(
        fxjit::narrow(x, axis, start, std::max<int64_t>(0, end - start)));
    start = end;
  }
  result.push_back(fxjit::narrow(x, axis, start, size - start));
  return Value::tuple(std::move(result));
}

Value tensor_split(const OpCall& call) {
  return tensor_split_along(call, dim_arg(call, 2, meta_of(call[0]).dim()));
}

// hsplit, vsplit, dsplit.
template <int kAxis>
Value split_along(const OpCall& call) {
  const int rank = meta_of(call[0]).dim();
  return tensor_split_along(call, kAxis == 1 && rank == 1 ? 0 : kAxis);
}

Value split_with_sizes(const OpCall& call) {
  return fxjit::split(call[0], call[1], call[2]);
}

// The last dim on a diagonal of two new ones: compared places choose it.
Value spread_on_diagonal(const Value& x, ExactInt offset, int first,
                         int second) {
  const Tensor meta = meta_of(x);
  const int64_t before = std::max<int64_t>(offset, 0);
  const int64_t above = std::max<int64_t>(-offset, 0);
  const int64_t size = ExactInt(meta.sizes().back()) + before + above;
  Dims sizes = meta.sizes();
  sizes[meta.dim() - 1] = size;
  sizes.push_back(size);
  check_memory(sizes, meta.dtype());
  const Value wide =
      nn::functional::pad(x, Value::tuple({Value(before), Value(above)}));
  const Value places = fxjit::arange(size);
  const Value on = fxjit::eq(fxjit::unsqueeze(places, 0),
                             fxjit::unsqueeze(places, 1) + int64_t{offset});
  const Value square = fxjit::where(on, fxjit::unsqueeze(wide, -2),
                                    fxjit::zeros(Dims{}, meta.dtype()));
  return fxjit::movedim(square, {-2, -1},
                        Value::tuple({Value(first), Value(second)}));
}

Value diag_embed(const OpCall& call) {
  const int rank = meta_of(call[0]).dim() + 1;
  const int first = wrap_dim(call.integer(2), rank);
  const int second = wrap_dim(call.integer(3), rank);
  const ExactInt offset = call.integer(1);
  return first < second ? spread_on_diagonal(call[0], offset, first, second)
                        : spread_on_diagonal(call[0], -offset, second, first);
}

Value diag(const OpCall& call) {
  const int rank = meta_of(call[0]).dim();
  if (rank == 1) return spread_on_diagonal(call[0], call.integer(1), 0, 1);
  if (rank == 2) return method(fxjit::diagonal(call[0], call[1]), "clone");
  runtime_error("diag(): Supports 1D or 2D tensors. Got ", rank, "D");
}

Value diagflat(const OpCall& call) {
  return spread_on_diagonal(fxjit::flatten(call[0]), call.integer(1), 0, 1);
}

Value trace(const OpCall& call) {
  if (meta_of(call[0]).dim() != 2)
    runtime_error("trace: expected a matrix, but got tensor with dim ",
                  meta_of(call[0]).dim());
  return fxjit::sum(fxjit::diagonal(call[0]));
}

Value inner(const OpCall& call) {
  const int a = meta_of(call[0]).dim(), b = meta_of(call[1]).dim();
  if (a == 0 || b == 0) return call[0] * call[1];
  const Dims others = meta_of(call[1]).sizes();
  if (meta_of(call[0]).sizes().back() != others.back())
    runtime_error(
        "inner() the last dimension must match on both input tensors but got "
        "shapes ",
        meta_of(call[0]).sizes(), " and ", others);
  if (b == 1) return fxjit::matmul(call[0], call[1]);
  const Dims kept(others.span().first(static_cast<size_t>(b - 1)));
  const Value rows =
      fxjit::reshape(call[1], Value(Dims{numel(kept), others.back()}));
  const Value product = fxjit::matmul(call[0], fxjit::transpose(rows, 0, 1));
  Dims sizes = meta_of(call[0]).sizes();
  sizes.resize(sizes.size() - 1);
  return reshaped_value(product, joined(sizes, kept));
}

Dims sizes_at(const Tensor& tensor, const Dims& dims) {
  Dims sizes;
  for (int64_t d : dims) sizes.push_back(tensor.sizes()[static_cast<int>(d)]);
  return sizes;
}

// Both as matrices with the summed dims together.
Value tensordot(const OpCall& call) {
  const Tensor a = meta_of(call[0]), b = meta_of(call[1]);
  Dims left, right;
  if (call[2].is_int()) {
    const int64_t count = call.integer(2);
    if (count < 0 || count > std::min(a.dim(), b.dim()))
      runtime_error("tensordot expects dims ",
                    count < 0 ? ">= 0" : "< ndim_a or ndim_b",
                    ", but got dims=", count);
    for (int i = 0; i < count; ++i) {
      left.push_back(a.dim() - count + i);
      right.push_back(i);
    }
  } else {
    for (const Value& d : call[2].at(0).as_sequence())
      left.push_back(wrap_dim(d.as_int(), a.dim()));
    for (const Value& d : call[2].at(1).as_sequence())
      right.push_back(wrap_dim(d.as_int(), b.dim()));
  }
  const Dims rows = dims_between(0, a.dim(), left);
  const Dims columns = dims_between(0, b.dim(), right);
  const int64_t height = numel(sizes_at(a, rows));
  const int64_t depth = numel(sizes_at(a, left));
  const int64_t width = numel(sizes_at(b, columns));
  const Value x = reshaped_value(fxjit::permute(call[0], joined(rows, left)),
                                 {height, depth});
  const Value y = reshaped_value(
      fxjit::permute(call[1], joined(right, columns)), {depth, width});
  return reshaped_value(fxjit::matmul(x, y),
                        joined(sizes_at(a, rows), sizes_at(b, columns)));
}

Value cross(const OpCall& call) {
  const Dims common =
      broadcast_shapes(meta_of(call[0]).sizes(), meta_of(call[1]).sizes());
  int dim = -1;
  if (call.has(2)) dim = wrap_dim(call.integer(2), common.size());
  for (int d = 0; d < common.size() && dim < 0; ++d)
    if (common[d] == 3) dim = d;
  if (dim < 0 || common[dim] != 3)
    runtime_error("linalg.cross: inputs dimension ", dim,
                  " must have length 3. Got ", common);
  const Value a = expanded_value(call[0], common),
              b = expanded_value(call[1], common);
  const auto at = [&](const Value& x, int64_t i) {
    return fxjit::narrow(x, dim, i, 1);
  };
  const auto part = [&](int64_t i, int64_t j) {
    return at(a, i) * at(b, j) - at(a, j) * at(b, i);
  };
  return fxjit::cat(Value::list({part(1, 2), part(2, 0), part(0, 1)}), dim);
}

Value adjoint(const OpCall& call) { return fxjit::transpose(call[0], -2, -1); }

Value kron(const OpCall& call) {
  const Dims a = meta_of(call[0]).sizes(), b = meta_of(call[1]).sizes();
  const int rank = std::max(a.size(), b.size());
  Dims left, right, sizes;
  for (int d = 0; d < rank; ++d) {
    const int i = d - (rank - a.size()), j = d - (rank - b.size());
    const int64_t m = i < 0 ? Size(1) : a[i], n = j < 0 ? Size(1) : b[j];
    left.push_back(m);
    left.push_back(1);
    right.push_back(1);
    right.push_back(n);
    sizes.push_back(ExactInt(m) * n);
  }
  return reshaped_value(
      reshaped_value(call[0], left) * reshaped_value(call[1], right), sizes);
}

constexpr OpRow kRearrangingRows[] = {
    composed_row("broadcast_to", "input, size",
                 "torch.broadcast_to .broadcast_to", broadcast_to)
        .stating({.aliasing = Aliasing::always}),
    composed_row("broadcast_tensors", "*tensors",
                 "torch.functional.broadcast_tensors", broadcast_tensors)
        .stating({.aliasing = Aliasing::each}),
    composed_row("tile", "input, *dims", "torch.tile .tile", tile)
        .stating({.layout = Layout::plain}),
    composed_row("meshgrid", "*tensors, indexing=None",
                 "torch.functional.meshgrid!", meshgrid)
        .stating({.aliasing = Aliasing::each}),
    composed_row("atleast_1d", "*tensors", "torch.functional.atleast_1d",
                 atleast<1>)
        .stating({.aliasing = Aliasing::each}),
    composed_row("atleast_2d", "*tensors", "torch.functional.atleast_2d",
                 atleast<2>)
        .stating({.aliasing = Aliasing::each}),
    composed_row("atleast_3d", "*tensors", "torch.functional.atleast_3d",
                 atleast<3>)
        .stating({.aliasing = Aliasing::each}),
    composed_row("hstack", "tensors", "torch.hstack", stacked<1, 1>),
    composed_row("vstack", "tensors", "torch.vstack torch.row_stack",
                 stacked<2, 0>),
    composed_row("dstack", "tensors", "torch.dstack", stacked<3, 2>),
    composed_row("column_stack", "tensors", "torch.column_stack", column_stack),
    composed_row("ravel", "input", "torch.ravel .ravel", ravel)
        .stating({.aliasing = Aliasing::strides}),
    composed_row("tensor_split", "input, indices_or_sections, dim=0",
                 "torch.tensor_split .tensor_split", tensor_split)
        .stating({.aliasing = Aliasing::always}),
    composed_row("hsplit", "input, indices_or_sections", "torch.hsplit .hsplit",
                 split_along<1>)
        .stating({.aliasing = Aliasing::always}),
    composed_row("vsplit", "input, indices_or_sections", "torch.vsplit .vsplit",
                 split_along<0>)
        .stating({.aliasing = Aliasing::always}),
    composed_row("dsplit", "input, indices_or_sections", "torch.dsplit .dsplit",
                 split_along<2>)
        .stating({.aliasing = Aliasing::always}),
    composed_row("split_with_sizes", "input, split_sizes, dim=0",
                 "torch.split_with_sizes .split_with_sizes", split_with_sizes)
        .stating({.aliasing = Aliasing::always}),
    composed_row("diag_embed", "input, offset=0, dim1=-2, dim2=-1",
                 "torch.diag_embed .diag_embed", diag_embed)
        .stating({.layout = Layout::plain}),
    composed_row("diag", "input, diagonal=0", "torch.diag .diag", diag),
    composed_row("diagflat", "input, offset=0", "torch.diagflat .diagflat",
                 diagflat),
    composed_row("trace", "input", "torch.trace .trace", trace),
    composed_row("inner", "input, other", "torch.inner .inner", inner)
        .stating({.native = NativeCalls::products}),
    composed_row("tensordot", "a, b, dims=2, out=None",
                 "torch.functional.tensordot", tensordot)
        .stating({.native = NativeCalls::products}),
    composed_row("cross", "input, other, dim=None",
                 "torch.cross .cross torch._C._linalg.linalg_cross", cross),
    composed_row("adjoint", "input", "torch.adjoint .adjoint", adjoint)
        .stating({.aliasing = Aliasing::always}),
    composed_row("kron", "input, other", "torch.kron .kron", kron),
};

}  // namespace

std::span<const OpRow> rearranging_rows() { return kRearrangingRows; }

}  // namespace fxjit::ops
