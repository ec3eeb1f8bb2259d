// Ops that look elements up among others, and statistics of lines:
// searchsorted, isin, aminmax, means and sums without NaN, median and kthvalue.
#include <limits>

#include "fxjit/functions_structured.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

void check_sorter(const Tensor& sorted, const Tensor& sorter) {
  if (sorter.sizes() != sorted.sizes())
    runtime_error(
        "torch.searchsorted(): boundary and sorter must have the same size, "
        "but got boundary tensor ",
        sorted.sizes(), "and got sorter tensor ", sorter.sizes());
  if (sorter.dtype() != DType::i64)
    runtime_error(
        "torch.searchsorted(): sorter must be a tensor of long dtype but got "
        "dtype ",
        torch_type_name(sorter.dtype()));
}

// The lines in the order that the sorter states.
Tensor in_order(const Tensor& given, const Tensor& sorter) {
  const int64_t size = given.sizes().back();
  for (int64_t place : sorter.to_ints())
    if (place < 0 || place >= size)
      runtime_error("torch.searchsorted(): sorter index out of range");
  return fxjit::gather(given, -1, sorter).as_tensor();
}

Value infer_searchsorted(const OpCall& call) {
  const Tensor& sorted = call.tensor(0);
  if (call.has(5)) check_sorter(sorted, call.tensor(5));
  const DType dtype = call.flag(2) ? DType::i32 : DType::i64;
  if (call[1].is_number()) {
    if (sorted.dim() != 1)
      runtime_error(
          "torch.searchsorted(): input value can be a scalar only when "
          "boundaries tensor dimension is 1");
    return Tensor::meta(Dims{}, dtype);
  }
  const Tensor& values = call.tensor(1);
  bool fits = sorted.dim() == values.dim();
  for (int d = 0; fits && d + 1 < sorted.dim(); ++d)
    fits = sorted.sizes()[d] == values.sizes()[d];
  if (sorted.dim() != 1 && !fits)
    runtime_error(
        "torch.searchsorted(): boundaries tensor should be 1 dimension or the "
        "first N-1 dimensions of boundaries tensor and input value tensor must "
        "match, but we got boundaries tensor ",
        sorted.sizes(), " and input value tensor ", values.sizes());
  return Tensor::meta(values.sizes(), dtype);
}

// How many of a line stand in front of `x`. NaN is the greatest number.
template <typename C>
int64_t place_in(const C* line, int64_t size, C x, bool right) {
  const auto before = [&](C a) {
    if constexpr (std::is_floating_point_v<C>)
      if (x != x) return right || a == a;
    return right ? !(a > x) && a == a : a < x;
  };
  int64_t low = 0, high = size;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (before(line[middle]))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

void direct_searchsorted(const OpCall& call, std::span<const Tensor> results) {
  const bool right =
      call.flag(3) || (call.has(4) && call[4].as_string() == "right");
  const Tensor given =
      call.has(5) ? in_order(call.tensor(0), call.tensor(5)) : call.tensor(0);
  const Tensor values = call[1].is_number()
                            ? Tensor::full({}, call.number(1), given.dtype())
                            : call.tensor(1);
  const DType common =
      kernel_dtype(promote_types(given.dtype(), values.dtype()));
  const Tensor sorted = given.to(common).contiguous();
  const Tensor wanted = values.to(common).contiguous();
  const int64_t size = sorted.sizes().back();
  const int64_t lines =
      sorted.dim() > 1 ? sorted.numel() / std::max<int64_t>(1, size) : Size(1);
  const int64_t each = lines > 0 ? wanted.numel() / lines : Size(0);
  const Tensor places = Tensor::empty(wanted.sizes(), DType::i64);
  visit_kernel_dtype(common, [&](auto type) {
    using C = typename decltype(type)::type;
    for (int64_t i = 0; i < lines * each; ++i)
      places.data_as<int64_t>()[i] = place_in<C>(
          sorted.data_as<C>() + i / each * size * (sorted.dim() > 1), size,
          wanted.data_as<C>()[i], right);
  });
  results[0].copy_from(places);
}

Value bucketize(const OpCall& call) {
  return call_row("searchsorted", {call[1], call[0]},
                  {{"out_int32", call[2]}, {"right", call[3]}});
}

// Every element compared with all that are looked for.
Value isin(const OpCall& call) {
  Value found;
  if (call[1].is_number()) {
    found = fxjit::eq(call[0], call[1]);
  } else {
    const Value tests = fxjit::flatten(call[1]);
    const Value each = call[0].is_number()
                           ? fxjit::eq(tests, call[0])
                           : fxjit::eq(fxjit::unsqueeze(call[0], -1), tests);
    found = fxjit::any(each, -1);
  }
  return call.flag(3) ? fxjit::logical_not(found) : found;
}

Value aminmax(const OpCall& call) {
  const Value dim = call.has(1) ? call[1] : Value::tuple({});
  return Value::tuple(
      {fxjit::amin(call[0], dim, call[2]), fxjit::amax(call[0], dim, call[2])});
}

Value count_nonzero(const OpCall& call) {
  return fxjit::sum(fxjit::ne(call[0], 0), call[1]);
}

Value without_nan(const Value& x) {
  if (!is_floating(meta_of(x).dtype())) return x;
  return fxjit::where(fxjit::isnan(x), 0.0, x);
}

Value nansum(const OpCall& call) {
  return fxjit::sum(without_nan(call[0]), call[1], call[2], call[3]);
}

Value nanmean(const OpCall& call) {
  const DType dtype = dtype_arg(call, 3, meta_of(call[0]).dtype());
  const Value wide = widened(call[0], dtype);
  const Value known =
      cast_to(fxjit::logical_not(fxjit::isnan(wide)), meta_of(wide).dtype());
  return narrowed(fxjit::sum(without_nan(wide), call[1], call[2]) /
                      fxjit::sum(known, call[1], call[2]),
                  wide, dtype);
}

template <bool kRoot>
Value spread_and_mean(const OpCall& call) {
  const bool flag_first = call[1].is_bool();
  const Value dims = flag_first ? None : call[1];
  const Value spread =
      call_row(kRoot ? "std" : "var", {call[0], call[1], call[2], call[3]},
               {{"correction", call[4]}});
  return Value::tuple({spread, fxjit::mean(call[0], dims, call[3])});
}

// The element at `place` of each sorted line, and where it stood.
Value at_place(const Value& input, int64_t place, const Value& dim,
               const Value& keep) {
  if (meta_of(input).dim() == 0)
    return Value::tuple(
        {method(input, "clone"), fxjit::zeros(Dims{}, DType::i64)});
  const Value sorted = call_row("sort", {input, dim});
  const auto pick = [&](size_t i) {
    const Value one = fxjit::narrow(getitem(sorted, int64_t(i)), dim, place, 1);
    return keep.as_bool() ? one : fxjit::squeeze(one, dim);
  };
  return Value::tuple({pick(0), pick(1)});
}

Value kthvalue(const OpCall& call) {
  const Tensor input = meta_of(call[0]);
  const int axis = dim_arg(call, 2, input.dim());
  const int64_t size = axis_size(input, axis);
  const int64_t k = call.integer(1);
  if (k < 1 || k > size)
    runtime_error("kthvalue(): selected number k out of range for dimension ",
                  axis);
  return at_place(call[0], k - 1, axis, call[3]);
}

// The median of no elements: NaN, converted as C++ does.
Value unknown_median(DType type) {
  if (is_floating(type))
    return fxjit::full(Dims{}, std::numeric_limits<double>::quiet_NaN(), type);
  const int64_t least = type == DType::i64   ? INT64_MIN
                        : type == DType::i32 ? INT32_MIN
                                             : type == DType::boolean;
  return fxjit::full(Dims{}, least, type);
}

// The lower of two in the middle; NaN wherever a line has one.
Value median(const OpCall& call) {
  const bool whole = !call.has(1);
  const Value input = whole ? fxjit::flatten(call[0]) : call[0];
  const int axis = whole ? 0 : dim_arg(call, 1, meta_of(input).dim());
  const Tensor meta = meta_of(input);
  const int64_t size = axis_size(meta, axis);
  if (whole && size == 0) return unknown_median(meta.dtype());
  if (size == 0)
    throw IndexError("median(): Expected reduction dim " +
                     std::to_string(axis) + " to have non-zero size.");
  Value found = at_place(input, (size - 1) / 2, axis, !whole && call.flag(2));
  if (is_floating(meta.dtype()) && meta.dim() > 0) {
    // NaN stands at the end of a sorted line.
    const Value last = at_place(input, size - 1, axis, !whole && call.flag(2));
    const Value unknown = fxjit::isnan(last.at(0));
    const Value first = function(
        "torch.argmax", {input, Value(axis), Value(!whole && call.flag(2))});
    found = Value::tuple({fxjit::where(unknown, last.at(0), found.at(0)),
                          fxjit::where(unknown, first, found.at(1))});
  }
  return whole ? found.at(0) : found;
}

// The same of those numbers of a line that are not NaN; NaN where none is.
Value nanmedian(const OpCall& call) {
  const Tensor meta = meta_of(call[0]);
  if (!is_floating(meta.dtype()) || meta.dim() == 0) return median(call);
  const bool whole = !call.has(1);
  const Value input = whole ? fxjit::flatten(call[0]) : call[0];
  const int axis = whole ? 0 : dim_arg(call, 1, meta.dim());
  if (axis_size(meta_of(input), axis) == 0) return median(call);
  const Value sorted = call_row("sort", {input, Value(axis)});
  const Value known = fxjit::logical_not(fxjit::isnan(input));
  const Value count = fxjit::sum(cast_to(known, DType::i64), axis, true);
  const Value place =
      cast_to(fxjit::clamp(count - 1, 0), DType::i64) >> Value(1);
  const auto pick = [&](int64_t part) {
    const Value one = fxjit::gather(getitem(sorted, part), axis, place);
    return !whole && call.flag(2) ? one : fxjit::squeeze(one, axis);
  };
  return whole ? pick(0) : Value::tuple({pick(0), pick(1)});
}

constexpr const char* kSpreadSchema =
    "input, dim=None, unbiased=None, keepdim=False, *, correction=None";

Layout layout_of_isin(const OpCall& call) {
  return call[1].is_tensor() ? Layout::stated : Layout::plain;
}

constexpr OpRow kSearchingRows[] = {
    direct_row("searchsorted",
               "sorted_sequence, input, *, out_int32=False, right=False, "
               "side=None, sorter=None",
               "torch.searchsorted", infer_searchsorted, direct_searchsorted),
    composed_row("bucketize",
                 "input, boundaries, *, out_int32=False, right=False",
                 "torch.bucketize", bucketize),
    composed_row("isin",
                 "elements, test_elements, *, assume_unique=False, "
                 "invert=False",
                 "torch.isin", isin)
        .stating({.layout_of = layout_of_isin}),
    composed_row("aminmax", "input, *, dim=None, keepdim=False",
                 "torch.aminmax .aminmax", aminmax),
    composed_row("count_nonzero", "input, dim=None",
                 "torch.count_nonzero .count_nonzero", count_nonzero),
    composed_row("nansum", "input, dim=None, keepdim=False, *, dtype=None",
                 "torch.nansum .nansum", nansum),
    composed_row("nanmean", "input, dim=None, keepdim=False, *, dtype=None",
                 "torch.nanmean .nanmean", nanmean),
    composed_row("var_mean", kSpreadSchema, "torch.var_mean",
                 spread_and_mean<false>),
    composed_row("std_mean", kSpreadSchema, "torch.std_mean",
                 spread_and_mean<true>),
    composed_row("kthvalue", "input, k, dim=-1, keepdim=False",
                 "torch.kthvalue .kthvalue", kthvalue)
        .stating({.layout = Layout::plain}),
    composed_row("median", "input, dim=None, keepdim=False",
                 "torch.median .median", median)
        .stating({.layout = Layout::plain}),
    composed_row("nanmedian", "input, dim=None, keepdim=False",
                 "torch.nanmedian .nanmedian", nanmedian),
};

}  // namespace

std::span<const OpRow> searching_rows() { return kSearchingRows; }

}  // namespace fxjit::ops
