// The kernel of istft: frames that overlap, added.
#include <algorithm>

#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

// fxjit.overlap_add(frames [N, count, size], window, hop, start, length): the
// sum of the frames, each at its place, divided by that of squared windows.
Value infer_overlap_add(const OpCall& call) {
  return Tensor::meta({call.tensor(0).size(0), call.integer(4)},
                      call.tensor(0).dtype());
}

// `step`: doubles from one number of a frame to the next.
void add_frames(const double* frames, const std::vector<double>& window,
                int64_t count, int64_t hop, int64_t step,
                std::vector<double>& sums) {
  const auto size = static_cast<int64_t>(window.size());
  for (int64_t f = 0; f < count; ++f)
    for (int64_t i = 0; i < size; ++i)
      sums[static_cast<size_t>(f * hop + i)] +=
          frames[(f * size + i) * step] * window[static_cast<size_t>(i)];
}

std::vector<double> doubles_of(const Tensor& tensor) {
  const Tensor wide = tensor.to(DType::f64).contiguous();
  const auto* const data = wide.data_as<double>();
  return {data, data + wide.numel()};
}

void run_overlap_add(const OpCall& call, std::span<const Tensor> results) {
  const Tensor& frames = call.tensor(0);
  const std::vector<double> window = doubles_of(call.tensor(1));
  const int64_t count = frames.size(1), size = frames.size(2);
  const int64_t hop = call.integer(2), start = call.integer(3);
  const int64_t length = call.integer(4), whole = size + hop * (count - 1);
  const bool complex = is_complex(frames.dtype());
  const int64_t step = complex ? 2 : 1;
  const Tensor wide =
      frames.to(complex ? DType::c128 : DType::f64).contiguous();
  const auto room = static_cast<size_t>(std::max(whole, start + length));
  std::vector<double> squares(room, 0);
  for (int64_t f = 0; f < count; ++f)
    for (int64_t i = 0; i < size; ++i)
      squares[static_cast<size_t>(f * hop + i)] +=
          window[static_cast<size_t>(i)] * window[static_cast<size_t>(i)];
  for (int64_t i = start; i < std::min(start + length, whole); ++i)
    if (!(squares[static_cast<size_t>(i)] >= 1e-11))  // torch's bound.
      runtime_error("istft: window overlap add min: 1");
  const Tensor out = Tensor::zeros(results[0].sizes(), wide.dtype());
  auto* const to = static_cast<double*>(out.data());
  const auto* const from = static_cast<const double*>(wide.data());
  for (int64_t n = 0; n < frames.size(0); ++n)
    for (int64_t part = 0; part < step; ++part) {
      std::vector<double> sums(room, 0);
      add_frames(from + n * count * size * step + part, window, count, hop,
                 step, sums);
      for (int64_t i = 0; i < std::min(length, whole - start); ++i)
        to[(n * length + i) * step + part] =
            sums[static_cast<size_t>(start + i)] /
            squares[static_cast<size_t>(start + i)];
    }
  results[0].copy_from(out);
}

constexpr OpRow kOverlapAddRows[] = {
    direct_row("fxjit.overlap_add", "frames, window, hop, start, length", "",
               infer_overlap_add, run_overlap_add),
};

}  // namespace

std::span<const OpRow> overlap_add_rows() { return kOverlapAddRows; }

}  // namespace fxjit::ops
