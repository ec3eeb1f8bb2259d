#include "src/ops/families/fft/fft_calls.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fxjit/functions_structured.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

double scale_of(Scaling scaling, double count) {
  if (scaling == Scaling::root) return 1 / std::sqrt(count);
  return scaling == Scaling::count ? 1 / count : 1;
}

double count_of(const Tensor& input, const Dims& dims) {
  double count = 1;
  for (int64_t d : dims) count *= static_cast<double>(input.size(d));
  return count;
}

// The order of dims in which torch's kernel has its result in memory: the other
// dims as the input has them, then those of the transform.
Dims memory_order(const Tensor& input, Dims dims, bool last_stays) {
  const auto by_stride = [&](int64_t a, int64_t b) {
    return input.stride(a) > input.stride(b);
  };
  std::stable_sort(dims.begin(), dims.end() - (last_stays ? 1 : 0), by_stride);
  Dims others = dims_between(0, input.dim(), dims);
  std::stable_sort(others.begin(), others.end(), by_stride);
  return joined(others, dims);
}

Dims inverse(const Dims& order) {
  Dims result(order.size(), 0);
  for (int i = 0; i < order.size(); ++i) result[static_cast<int>(order[i])] = i;
  return result;
}

Value in_order(const char* kernel, const Value& input, const Dims& order,
               ValueList rest) {
  rest.insert(rest.begin(), fxjit::permute(input, order));
  return fxjit::permute(call_row(kernel, std::move(rest)), inverse(order));
}

}  // namespace

void check_length(int64_t length) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (length < 1 || length > kMost)
    runtime_error("Invalid number of data points (", length, ") specified");
}

Value fft_c2c(const Value& input, const Dims& dims, Scaling scaling,
              bool forward) {
  const Tensor meta = meta_of(input);
  if (dims.size() == 0) return method(input, "clone");
  return in_order(
      "fxjit.fft_c2c", input, memory_order(meta, dims, false),
      {dims.size(), forward, scale_of(scaling, count_of(meta, dims))});
}

Value fft_r2c(const Value& input, const Dims& dims, Scaling scaling,
              bool onesided) {
  const Tensor meta = meta_of(input);
  if (meta.dtype() != DType::f32 && meta.dtype() != DType::f64)
    runtime_error("Unsupported dtype ", torch_type_name(meta.dtype()));
  return in_order(
      "fxjit.fft_r2c", input, memory_order(meta, dims, true),
      {dims.size(), onesided, scale_of(scaling, count_of(meta, dims))});
}

Value fft_c2r(const Value& input, const Dims& dims, Scaling scaling,
              int64_t length) {
  Dims others;
  for (int i = 0; i + 1 < dims.size(); ++i) others.push_back(dims[i]);
  const int64_t last = dims.back();
  const Value lines =
      others.empty() ? input : fft_c2c(input, others, scaling, false);
  const Tensor meta = meta_of(lines);
  check_length(length);
  if (meta.size(last) < length / 2 + 1)
    runtime_error("_fft_c2r: expected at least ", length / 2 + 1,
                  " numbers along dim ", last, ", got ", meta.size(last));
  return in_order("fxjit.fft_c2r", lines, memory_order(meta, {last}, true),
                  {length, scale_of(scaling, static_cast<double>(length))});
}

namespace {

Scaling scaling_arg(const OpCall& call, size_t i) {
  const int64_t number = call.integer(i);
  if (number < 0 || number > 2) runtime_error("Unsupported normalization mode");
  return static_cast<Scaling>(number);
}

Dims dims_of(const OpCall& call) {
  Dims dims;
  const int rank = meta_of(call[0]).dim();
  for (const Value& d : call[1].as_sequence())
    dims.push_back(wrap_dim(d.as_int(), rank));
  return dims;
}

void require_complex(const OpCall& call) {
  if (!is_complex(meta_of(call[0]).dtype()))
    runtime_error(call.op.name(), ": expected a complex tensor, got ",
                  meta_of(call[0]).describe());
}

// (input, dim, normalization, forward).
Value c2c(const OpCall& call) {
  require_complex(call);
  return fft_c2c(call[0], dims_of(call), scaling_arg(call, 2), call.flag(3));
}

// (input, dim, normalization, onesided).
Value r2c(const OpCall& call) {
  return fft_r2c(call[0], dims_of(call), scaling_arg(call, 2), call.flag(3));
}

// (input, dim, normalization, last_dim_size).
Value c2r(const OpCall& call) {
  require_complex(call);
  return fft_c2r(call[0], dims_of(call), scaling_arg(call, 2), call.integer(3));
}

constexpr OpRow kFftCallsRows[] = {
    inlined_row("_fft_c2c", "input, dim, normalization, forward",
                "torch._fft_c2c", c2c),
    inlined_row("_fft_r2c", "input, dim, normalization, onesided",
                "torch._fft_r2c", r2c),
    inlined_row("_fft_c2r", "input, dim, normalization, last_dim_size",
                "torch._fft_c2r", c2r),
};

}  // namespace

std::span<const OpRow> fft_call_rows() { return kFftCallsRows; }

}  // namespace fxjit::ops
