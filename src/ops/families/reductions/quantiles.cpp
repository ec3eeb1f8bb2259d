// quantile and nanquantile: sorted lines, read between two of their elements.
#include <algorithm>

#include "fxjit/functions_structured.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

// A tensor of no numbers yet is looked at where it has some.
void check_share(const Value& q, DType dtype) {
  const auto is_share = [](double number) {
    return number >= 0 && number <= 1;
  };
  if (q.is_number()) {
    if (is_share(q.as_double())) return;
    runtime_error("quantile() q must be in the range [0, 1] but got ", repr(q));
  }
  const Tensor meta = meta_of(q);
  if (meta.dim() > 1)
    runtime_error("quantile() q must be a scalar or 1D tensor");
  if (meta.dtype() != dtype)
    runtime_error("quantile() q tensor must be same dtype as the input tensor");
  if (!q.is_tensor() || q.as_tensor().is_meta()) return;
  const Tensor shares = q.as_tensor().to(DType::f64).contiguous();
  const auto* first = shares.data_as<double>();
  if (!std::all_of(first, first + shares.numel(), is_share))
    runtime_error("quantile() q values must be in the range [0, 1]");
}

void check_input(const Tensor& input) {
  if (input.dtype() != DType::f32 && input.dtype() != DType::f64)
    runtime_error(
        "quantile() input tensor must be either float or double dtype");
  if (input.numel() == 0)
    runtime_error("quantile() input tensor must be non-empty");
}

// Elements of the sorted lines at `places`, [..., quantiles].
Value taken(const Value& sorted, const Value& places) {
  return fxjit::gather(sorted, -1, cast_to(places, DType::i64));
}

Value between(const Value& sorted, const Value& ranks, std::string_view how) {
  if (how == "lower") return taken(sorted, fxjit::floor(ranks));
  if (how == "higher") return taken(sorted, fxjit::ceil(ranks));
  if (how == "nearest") return taken(sorted, fxjit::round(ranks));
  if (how != "linear" && how != "midpoint")
    runtime_error(
        "quantile() interpolation must be one of linear, lower, higher, "
        "midpoint or nearest, but got ",
        how);
  const Value below = fxjit::floor(ranks);
  const Value weight = how == "linear" ? ranks - below : below * 0.0 + 0.5;
  return fxjit::lerp(taken(sorted, below), taken(sorted, fxjit::ceil(ranks)),
                     weight);
}

// Where in sorted lines [..., size] the shares `q` [quantiles] stand. NaN is
// last: without `skip` a line with one is read there.
Value ranks_of(const Value& sorted, const Value& q, bool skip) {
  Dims sizes = meta_of(sorted).sizes();
  const int64_t last = sizes.back() - 1;
  sizes[sizes.size() - 1] = meta_of(q).numel();
  if (skip) {
    const Value known =
        fxjit::sum(fxjit::logical_not(fxjit::isnan(sorted)), -1, true);
    const Value places =
        fxjit::clamp_min(cast_to(known, meta_of(q).dtype()) - 1, 0);
    return fxjit::expand(q * places, sizes);
  }
  const Value unknown = fxjit::isnan(fxjit::narrow(sorted, -1, last, 1));
  return fxjit::expand(
      fxjit::where(unknown, static_cast<double>(last), q * last), sizes);
}

template <bool kSkip>
Value quantile(const OpCall& call) {
  const Tensor input = meta_of(call[0]);
  check_input(input);
  check_share(call[1], input.dtype());
  const bool whole = !call.has(2), keep = call.flag(3);
  const bool scalar = call[1].is_number() || meta_of(call[1]).dim() == 0;
  const int axis = whole ? 0 : dim_arg(call, 2, input.dim());
  Value lines = whole || input.dim() == 0 ? fxjit::flatten(call[0])
                                          : fxjit::movedim(call[0], axis, -1);
  const Value q = call[1].is_number()
                      ? fxjit::full(Dims{1}, call[1], input.dtype())
                      : fxjit::reshape(call[1], {-1});
  lines = getitem(call_row("sort", {lines, -1}), 0);
  const Value found =
      between(lines, ranks_of(lines, q, kSkip), call[4].as_string());
  Dims sizes = input.sizes();
  for (int d = 0; d < sizes.size(); ++d)
    if (whole || d == axis) sizes[d] = 1;
  if (!keep)
    sizes = whole ? Dims{} : reduced_shape(input.sizes(), Dims{axis}, false);
  if (!scalar) sizes.insert(0, meta_of(q).numel());
  return fxjit::reshape(fxjit::movedim(found, -1, 0), sizes);
}

constexpr const char* kQuantileSchema =
    "input, q, dim=None, keepdim=False, *, interpolation='linear'";

constexpr OpRow kQuantilesRows[] = {
    composed_row("quantile", kQuantileSchema, "torch.quantile .quantile",
                 quantile<false>),
    composed_row("nanquantile", kQuantileSchema,
                 "torch.nanquantile .nanquantile", quantile<true>),
};

}  // namespace

std::span<const OpRow> quantile_rows() { return kQuantilesRows; }

}  // namespace fxjit::ops
