// Ops that combine elements at places that index tensors give (scatter_reduce,
// index_reduce), and that write them by advanced indexing (index_put), masks
// and slices. All copy their first argument, unless the result of a
// scatter_reduce has the same memory.
#include <cmath>
#include <vector>

#include "fxjit/functions_structured.h"
#include "src/ops/families/index/gather_loops.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"
#include "src/tensor/visit.h"

namespace fxjit::ops {
namespace {

using Results = std::span<const Tensor>;

enum class How { sum, prod, mean, amax, amin };

How how_of(const OpCall& call, size_t i) {
  const std::string_view name = call[i].as_string();
  if (name == "sum") return How::sum;
  if (name == "prod") return How::prod;
  if (name == "mean") return How::mean;
  if (name == "amax") return How::amax;
  if (name == "amin") return How::amin;
  runtime_error(
      "reduce argument must be either sum, prod, mean, amax or amin, got ",
      name);
}

template <typename C>
C combined(How how, C a, C b) {
  if constexpr (std::is_floating_point_v<C>)
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? a : b;
  switch (how) {
    case How::sum:
    case How::mean:
      return static_cast<C>(a + b);
    case How::prod:
      return static_cast<C>(a * b);
    case How::amax:
      return a < b ? b : a;
    case How::amin:
      return b < a ? b : a;
  }
  return a;
}

// What a place counts as before the first element comes, where what stood there
// is left out.
template <typename C>
C start_of(How how) {
  using Limits = std::numeric_limits<C>;
  constexpr bool kFloat = std::is_floating_point_v<C>;
  switch (how) {
    case How::sum:
    case How::mean:
      return C(0);
    case How::prod:
      return C(1);
    case How::amax:
      return kFloat ? -Limits::infinity() : Limits::lowest();
    case How::amin:
      return kFloat ? Limits::infinity() : Limits::max();
  }
  return C(0);
}

// Numbers wide enough to wrap without undefined behaviour.
template <typename T>
using Sum = std::conditional_t<std::is_floating_point_v<ComputeOf<T>>,
                               ComputeOf<T>, int64_t>;

Value infer_scatter_reduce(const OpCall& call) {
  const Tensor &input = call.tensor(0), &index = call.tensor(2);
  const Tensor& source = call.tensor(3);
  const int axis = dim_arg(call, 1, input.dim());
  how_of(call, 4);
  if (index.numel() > 0) check_lines("scatter", input, index, axis);
  if (source.dtype() != input.dtype())
    runtime_error("scatter(): Expected self.dtype to be equal to src.dtype");
  for (int d = 0; d < index.dim(); ++d)
    if (source.dim() != index.dim() || index.sizes()[d] > source.sizes()[d])
      runtime_error("Expected index ", index.sizes(),
                    " to be no larger than src ", source.sizes());
  return Tensor::meta(input.sizes(), input.dtype());
}

// The offset in `out` of each element of `index`, in its order.
std::vector<int64_t> targets(const Tensor& out, const Tensor& index, int axis) {
  const Tensor places = index.to(DType::i64).contiguous();
  std::vector<int64_t> offsets;
  offsets.reserve(static_cast<size_t>(places.numel()));
  const Dims strides = strides_without(out, axis, places.dim());
  const int64_t size = axis_size(out, axis), step = axis_stride(out, axis);
  const int64_t* next = places.data_as<int64_t>();
  for_each_point<1>(places.sizes(), {strides}, [&](const auto& at) {
    const int64_t i = *next++;
    if (i < 0 || i >= size) out_of_bounds(i, axis, size);
    offsets.push_back(at[0] + i * step);
  });
  return offsets;
}

template <typename T>
void reduce_into(const Tensor& out, const std::vector<int64_t>& offsets,
                 const Tensor& source, How how, bool include) {
  using C = Sum<T>;
  const auto total = static_cast<size_t>(out.numel());
  T* to = out.data_as<T>();
  const T* from = source.data_as<T>();
  std::vector<C> sums(total);
  std::vector<int64_t> counts(total, include ? 1 : 0);
  for (size_t i = 0; i < total; ++i) sums[i] = static_cast<C>(to[i]);
  for (size_t i = 0; i < offsets.size(); ++i) {
    const auto at = static_cast<size_t>(offsets[i]);
    if (counts[at]++ == 0) sums[at] = start_of<C>(how);
    sums[at] = combined<C>(how, sums[at], static_cast<C>(from[i]));
  }
  for (size_t i = 0; i < total; ++i) {
    if (counts[i] == (include ? 1 : 0)) continue;
    if (how == How::mean) {
      const C count = static_cast<C>(counts[i]);
      if constexpr (std::is_floating_point_v<C>)
        sums[i] /= count;
      else
        sums[i] = sums[i] / count - (sums[i] % count < 0 ? 1 : 0);
    }
    to[i] = convert<T>(sums[i]);
  }
}

// Floats in place, rows that share an index at once; what stands there counts.
template <typename T, How kHow>
void combine_rows(const Tensor& out, const Tensor& index, const Tensor& source,
                  int axis) {
  const int64_t size = axis_size(out, axis), stride = axis_stride(out, axis);
  const LoopNest<3> nest(
      index.sizes(), {strides_without(out, axis, index.dim()), index.strides(),
                      source.strides()});
  const auto place = [&](int64_t at) {
    const int64_t i = index.data_as<int64_t>()[at];
    if (i < 0 || i >= size) out_of_bounds(i, axis, size);
    return i * stride;
  };
  const auto put = [](T& to, T value) {
    if constexpr (kHow == How::sum) to += value;
    if constexpr (kHow == How::prod) to *= value;
    if constexpr (kHow == How::amax)
      to = value > to || value != value ? value : to;
    if constexpr (kHow == How::amin)
      to = value < to || value != value ? value : to;
  };
  nest.for_each_row([&](const auto& at, const auto& step, int64_t n) {
    const T* from = source.data_as<T>() + at[2];
    T* to = out.data_as<T>() + at[0];
    if (step[1] == 0) {
      to += place(at[1]);
      if (step[0] == 1 && step[2] == 1) {
        for (int64_t i = 0; i < n; ++i) put(to[i], from[i]);
      } else {
        for (int64_t i = 0; i < n; ++i) put(to[i * step[0]], from[i * step[2]]);
      }
      return;
    }
    for (int64_t i = 0; i < n; ++i)
      put(to[i * step[0] + place(at[1] + i * step[1])], from[i * step[2]]);
  });
}

// False where it takes counts, or numbers wider than the elements.
template <typename T>
bool combined_in_place(const Tensor& out, const Tensor& index,
                       const Tensor& source, int axis, How how) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    switch (how) {
      case How::sum:
        combine_rows<T, How::sum>(out, index, source, axis);
        return true;
      case How::prod:
        combine_rows<T, How::prod>(out, index, source, axis);
        return true;
      case How::amax:
        combine_rows<T, How::amax>(out, index, source, axis);
        return true;
      case How::amin:
        combine_rows<T, How::amin>(out, index, source, axis);
        return true;
      case How::mean:
        break;
    }
  }
  return false;
}

void direct_scatter_reduce(const OpCall& call, Results results) {
  const Tensor& input = call.tensor(0);
  const Tensor& index = call.tensor(2);
  fill_contiguous(results[0], [&](const Tensor& out) {
    if (out.data() != input.data()) out.copy_from(input);
    if (index.numel() == 0) return;
    const int axis = dim_arg(call, 1, input.dim());
    const Tensor& source = call.tensor(3);
    const Tensor used =
        source.as_strided(index.sizes(), source.strides(), source.offset());
    visit_dtype(input.dtype(), [&](auto type) {
      using T = typename decltype(type)::type;
      if (call.flag(5) && combined_in_place<T>(out, index.to(DType::i64), used,
                                               axis, how_of(call, 4)))
        return;
      reduce_into<T>(out, targets(out, index, axis), used.contiguous(),
                     how_of(call, 4), call.flag(5));
    });
  });
}

// Whole slices: scatter_reduce with the index spread over them.
Value decompose_index_reduce(const OpCall& call) {
  const Tensor source = meta_of(call[3]);
  const int axis = dim_arg(call, 1, meta_of(call[0]).dim());
  Dims shape(source.dim(), 1);
  shape[axis] = meta_of(call[2]).numel();
  const Value index =
      fxjit::expand(fxjit::reshape(call[2], Value(shape)), source.sizes());
  return call_row("scatter_reduce", {call[0], call[1], index, call[3], call[4]},
                  {{"include_self", call[5]}});
}

Value decompose_index_fill(const OpCall& call) {
  const Tensor input = meta_of(call[0]);
  const int axis = dim_arg(call, 1, input.dim());
  Dims shape(input.dim(), 1), sizes = input.sizes();
  shape[axis] = sizes[axis] = meta_of(call[2]).numel();
  const Value at = fxjit::where(fxjit::lt(call[2], 0),
                                call[2] + input.sizes()[axis], call[2]);
  const Value index = fxjit::expand(fxjit::reshape(at, Value(shape)), sizes);
  if (call[3].is_number()) return fxjit::scatter(call[0], axis, index, call[3]);
  const Value source = fxjit::expand(cast_to(call[3], input.dtype()), sizes);
  return fxjit::scatter(call[0], axis, index, source);
}

Value infer_masked_scatter(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  if (call.tensor(1).dtype() != DType::boolean)
    runtime_error(
        "masked_scatter_ only supports boolean masks, but got mask with dtype ",
        torch_type_name(call.tensor(1).dtype()));
  if (call.tensor(2).dtype() != input.dtype())
    runtime_error(
        "masked_scatter: expected self and source to have same dtypes but got ",
        torch_type_name(input.dtype()), " and ",
        torch_type_name(call.tensor(2).dtype()));
  return Tensor::meta(broadcast_shapes(input.sizes(), call.tensor(1).sizes()),
                      input.dtype());
}

void direct_masked_scatter(const OpCall& call, Results results) {
  const Tensor& shape = results[0];
  const Tensor out = Tensor::empty(shape.sizes(), shape.dtype());
  out.copy_from(call.tensor(0));
  const Tensor mask = Tensor::empty(shape.sizes(), DType::boolean);
  mask.copy_from(call.tensor(1));
  const Tensor source = call.tensor(2).contiguous();
  visit_element_size(out.dtype(), [&](auto type) {
    using T = typename decltype(type)::type;
    int64_t used = 0;
    for (int64_t i = 0; i < out.numel(); ++i) {
      if (!mask.data_as<bool>()[i]) continue;
      if (used == source.numel())
        runtime_error(
            "masked_scatter: expected self and source to have enough elements: "
            "the source has ",
            used);
      out.data_as<T>()[i] = source.data_as<T>()[used++];
    }
  });
  shape.copy_from(out);
}

Value decompose_select_scatter(const OpCall& call) {
  const Tensor input = meta_of(call[0]);
  const int axis = dim_arg(call, 2, input.dim());
  const int64_t size = input.sizes()[axis];
  int64_t at = call.integer(3);
  if (at < -size || at >= size)
    throw IndexError("select(): index " + std::to_string(at) +
                     " out of range for tensor of size " + input.sizes().str() +
                     " at dimension " + std::to_string(axis));
  if (at < 0) at += size;
  return call_row("index_copy",
                  {call[0], axis, tensor_of({at}),
                   fxjit::unsqueeze(cast_to(call[1], input.dtype()), axis)});
}

Value decompose_slice_scatter(const OpCall& call) {
  const Tensor input = meta_of(call[0]);
  const int axis = dim_arg(call, 2, input.dim());
  const int64_t size = input.sizes()[axis], step = call.integer(5);
  if (step <= 0) runtime_error("slice step must be positive");
  const auto bound = [&](size_t i, int64_t fallback) {
    int64_t at = call.has(i) ? call.integer(i) : fallback;
    if (at < 0) at += size;
    return std::clamp<int64_t>(at, 0, size);
  };
  const int64_t start = bound(3, 0);
  const int64_t end = std::max(start, bound(4, size));
  std::vector<int64_t> places;
  for (int64_t i = start; i < end; i = step < end - i ? i + step : end)
    places.push_back(i);
  if (places.empty()) return method(call[0], "clone");
  return call_row("index_copy", {call[0], axis, tensor_of(places),
                                 cast_to(call[1], input.dtype())});
}

// A flat index of the flat input; negative ones count from the end.
Value decompose_take(const OpCall& call) {
  const Tensor input = meta_of(call[0]);
  const Value flat = fxjit::flatten(call[1]);
  const Value at = fxjit::where(fxjit::lt(flat, 0), flat + input.numel(), flat);
  return fxjit::reshape(fxjit::gather(fxjit::flatten(call[0]), 0, at),
                        meta_of(call[1]).sizes());
}

constexpr OpRow kScatterReduceRows[] = {
    direct_row("scatter_reduce",
               "input, dim, index, src, reduce, *, include_self=True",
               "torch.scatter_reduce .scatter_reduce", infer_scatter_reduce,
               direct_scatter_reduce)
        .stating({.update = UpdateKind::elements}),
    composed_row("index_reduce",
                 "input, dim, index, source, reduce, *, include_self=True",
                 "torch.index_reduce .index_reduce", decompose_index_reduce),
    composed_row("index_fill", "input, dim, index, value",
                 "torch.index_fill .index_fill", decompose_index_fill)
        .stating({.layout = Layout::first, .numbers = {"value"}}),
    direct_row("masked_scatter", "input, mask, source",
               "torch.masked_scatter .masked_scatter", infer_masked_scatter,
               direct_masked_scatter),
    composed_row("select_scatter", "input, src, dim, index",
                 "torch.select_scatter .select_scatter",
                 decompose_select_scatter)
        .stating({.layout = Layout::first}),
    composed_row("slice_scatter",
                 "input, src, dim=0, start=None, end=None, step=1",
                 "torch.slice_scatter .slice_scatter", decompose_slice_scatter)
        .stating({.layout = Layout::first}),
    composed_row("take", "input, index", "torch.take .take", decompose_take),
};

}  // namespace

std::span<const OpRow> scatter_reduce_rows() { return kScatterReduceRows; }

}  // namespace fxjit::ops
