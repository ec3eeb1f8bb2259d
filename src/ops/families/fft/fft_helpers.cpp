// What torch.fft has beside transforms: the frequencies of their results and
// the order in which these stand.
#include "fxjit/functions_structured.h"
#include "src/ops/families/creation/creation.h"
#include "src/ops/families/fft/fft_calls.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

// (n, d, *, dtype, layout, device, pin_memory).
template <bool kHalf>
Value frequencies(const OpCall& call) {
  const int64_t n = call.integer(0), count = kHalf ? n / 2 + 1 : n;
  check_length(n);
  const DType dtype = options_dtype(call, 2, DType::f32);
  check_memory({count}, DType::i64);
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < count; ++i)
    numbers.push_back(kHalf || i < (n + 1) / 2 ? i : i - n);
  const double step = 1.0 / (static_cast<double>(n) * call.number(1));
  return fxjit::mul(Tensor::from(numbers, {count}).to(dtype), step);
}

// (input, dim): the frequency 0 goes to the middle, or back.
template <bool kBack>
Value shift_halves(const OpCall& call) {
  const Tensor input = meta_of(call[0]);
  const Dims dims = axes_arg(call, 1, input.dim());
  if (dims.size() == 0) return method(call[0], "clone");
  ValueList shifts;
  for (int64_t d : dims)
    shifts.push_back((input.size(d) + (kBack ? 1 : 0)) / 2);
  return fxjit::roll(call[0], Value::list(shifts), axes_value(dims));
}

constexpr OpRow kFftHelpersRows[] = {
    inlined_row("fft_fftfreq", "n, d=1.0, *, " FXJIT_TENSOR_OPTIONS,
                "torch._C._fft.fft_fftfreq", frequencies<false>),
    inlined_row("fft_rfftfreq", "n, d=1.0, *, " FXJIT_TENSOR_OPTIONS,
                "torch._C._fft.fft_rfftfreq", frequencies<true>),
    inlined_row("fft_fftshift", "input, dim=None", "torch._C._fft.fft_fftshift",
                shift_halves<false>),
    inlined_row("fft_ifftshift", "input, dim=None",
                "torch._C._fft.fft_ifftshift", shift_halves<true>),
};

}  // namespace

std::span<const OpRow> fft_helper_rows() { return kFftHelpersRows; }

}  // namespace fxjit::ops
