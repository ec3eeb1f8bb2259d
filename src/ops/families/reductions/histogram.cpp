// histc: how many elements lie in each of several parts of a range.
#include <algorithm>
#include <cmath>

#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

Value infer_histc(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  if (!is_floating(input.dtype())) no_kernel("histogram_cpu", input.dtype());
  const int64_t bins = call.integer(1);
  if (bins <= 0)
    runtime_error("torch.histogram(): bins must be > 0, but got ", bins,
                  " for dimension 0");
  return Tensor::meta({bins}, input.dtype());
}

struct BinRange {
  double low = 0, high = 0;
};

// As given, else as the elements span it; never empty.
BinRange bin_range(const OpCall& call, const Tensor& input) {
  BinRange range{call.number(2), call.number(3)};
  if (range.low == range.high && input.numel() > 0) {
    const Tensor wide = input.to(DType::f64).contiguous();
    const double* const begin = wide.data_as<double>();
    const double* const end = begin + wide.numel();
    const bool unknown =
        std::any_of(begin, end, [](double x) { return std::isnan(x); });
    const auto [low, high] = std::minmax_element(begin, end);
    range = unknown ? BinRange{NAN, NAN} : BinRange{*low, *high};
  }
  if (range.low == range.high) range = {range.low - 1, range.high + 1};
  if (!std::isfinite(range.low) || !std::isfinite(range.high))
    runtime_error("torch.histc: range of [", std::to_string(range.low), ", ",
                  std::to_string(range.high), "] is not finite");
  if (range.low >= range.high)
    runtime_error("torch.histc: max must be larger than min");
  return range;
}

// T calculates as torch does, so that elements at the borders of parts are
// counted where it counts them.
template <typename T>
void count(const Tensor& input, BinRange range, const Tensor& out) {
  const T low = static_cast<T>(range.low), high = static_cast<T>(range.high);
  const int64_t bins = out.numel();
  for (int64_t i = 0; i < input.numel(); ++i) {
    const T x = input.data_as<T>()[i];
    if (!(x >= low && x <= high)) continue;
    const auto place =
        static_cast<int64_t>((x - low) * static_cast<T>(bins) / (high - low));
    out.data_as<T>()[std::min(place, bins - 1)] += 1;
  }
}

void run_histc(const OpCall& call, std::span<const Tensor> results) {
  const DType dtype = kernel_dtype(results[0].dtype());
  const Tensor input = call.tensor(0).to(dtype).contiguous();
  const BinRange range = bin_range(call, input);
  const Tensor out = Tensor::zeros(results[0].sizes(), dtype);
  if (dtype == DType::f64)
    count<double>(input, range, out);
  else
    count<float>(input, range, out);
  results[0].copy_from(out);
}

constexpr OpRow kHistogramRows[] = {
    direct_row("histc", "input, bins=100, min=0, max=0", "torch.histc .histc",
               infer_histc, run_histc),
};

}  // namespace

std::span<const OpRow> histogram_rows() { return kHistogramRows; }

}  // namespace fxjit::ops
