// stft and istft: transforms of the windows that slide over a signal.
#include "src/ops/families/complex/complex_parts.h"
#include "src/ops/families/fft/fft_calls.h"
#include "src/ops/table/families.h"
#include "src/tensor/exact_int.h"

namespace fxjit::ops {
namespace {

// Parameters that both share.
struct Windows {
  int64_t size, hop, length;
  Value window;
};

Windows windows_of(const OpCall& call) {
  const int64_t size = call.integer(1);
  Windows w{size, call.has(2) ? call.integer(2) : size / 4,
            call.has(3) ? call.integer(3) : size, call[4]};
  const std::string name(call.op.name());
  if (w.hop <= 0)
    runtime_error(name,
                  ": expected hop_length > 0, but got hop_length=", w.hop);
  if (w.length <= 0 || w.length > size)
    runtime_error(
        name,
        ": expected 0 < win_length <= n_fft, but got win_length=", w.length);
  if (w.window.is_none()) return w;
  const Tensor window = meta_of(w.window);
  if (is_complex(window.dtype()))
    throw NotImplementedError(name + ": complex windows are not supported");
  if (window.dim() != 1 || window.size(0) != w.length)
    runtime_error(name,
                  ": expected a 1D window tensor of size equal to win_length=",
                  w.length, ", but got window with size ", window.sizes());
  return w;
}

// The window with zeros on both sides, or none where it is all ones.
Value whole_window(const Windows& w, DType dtype) {
  if (w.length == w.size) return w.window;
  const int64_t left = (w.size - w.length) / 2;
  const Value window =
      w.window.is_none() ? fxjit::ones(Dims{w.length}, dtype) : w.window;
  return nn::functional::pad(window,
                             Value::list({left, w.size - w.length - left}));
}

// [batch, length] with half a window more on each side.
Value centered(const Value& signal, int64_t size, const Value& mode) {
  const Value rows = fxjit::unsqueeze(signal, 0);
  const Value pads = Value::list({size / 2, size / 2});
  if (!is_complex(meta_of(signal).dtype()))
    return fxjit::squeeze(nn::functional::pad(rows, pads, mode), 0);
  return complex_of(
      fxjit::squeeze(nn::functional::pad(real_of(rows), pads, mode), 0),
      fxjit::squeeze(nn::functional::pad(imag_of(rows), pads, mode), 0));
}

void check_signal(const OpCall& call, const Tensor& input) {
  if (!is_floating(input.dtype()) && !is_complex(input.dtype()))
    runtime_error(
        "stft: expected a tensor of floating point or complex values");
  if (input.dim() != 1 && input.dim() != 2)
    runtime_error("stft: expected a 1D or 2D tensor");
  if (!call.has(9) && !is_complex(input.dtype()))
    runtime_error(
        "stft requires the return_complex parameter be given for real inputs, "
        "and will further require that return_complex=True in a future PyTorch "
        "release.");
  if (call.has(10) && call.flag(10))
    throw NotImplementedError("stft: align_to_window=True is not supported");
}

// (input, n_fft, hop_length, win_length, window, center, pad_mode, normalized,
// onesided, return_complex, align_to_window).
Value stft(const OpCall& call) {
  const Tensor input = meta_of(call[0]);
  check_signal(call, input);
  const Windows w = windows_of(call);
  const bool complex = is_complex(input.dtype()), alone = input.dim() == 1;
  Value signal = alone ? fxjit::unsqueeze(call[0], 0) : call[0];
  if (call.flag(5)) signal = centered(signal, w.size, call[6]);
  const int64_t length = meta_of(signal).size(1);
  if (w.size <= 0 || w.size > length)
    runtime_error("stft: expected 0 < n_fft < ", length,
                  ", but got n_fft=", w.size);
  Value frames = method(signal, "unfold", {1, w.size, w.hop});
  const Value window = whole_window(w, part_type(input.dtype()));
  if (!window.is_none()) frames = frames * window;
  const bool onesided = call.has(8) ? call.flag(8) : !complex;
  if (complex && onesided)
    runtime_error("Cannot have onesided output if window or input is complex");
  const Scaling scaling = call.flag(7) ? Scaling::root : Scaling::none;
  Value spectra = complex ? fft_c2c(frames, {2}, scaling, true)
                          : fft_r2c(frames, {2}, scaling, onesided);
  spectra = fxjit::transpose(spectra, 1, 2);
  if (alone) spectra = fxjit::squeeze(spectra, 0);
  return !call.has(9) || call.flag(9) ? spectra : pairs_of(spectra);
}

// The spectra, [N, frames, frequencies].
Value spectra_of(const OpCall& call, int64_t size) {
  const Tensor input = meta_of(call[0]);
  if (!is_complex(input.dtype()))
    runtime_error(
        "istft requires a complex-valued input tensor matching the output from "
        "stft with return_complex=True.");
  if (input.dim() != 2 && input.dim() != 3)
    runtime_error("istft: expected a tensor with 2 or 3 dimensions, got ",
                  input.dim());
  if (input.numel() == 0) runtime_error("istft: input tensor cannot be empty.");
  const bool onesided = call.has(7) ? call.flag(7) : input.size(-2) != size;
  const int64_t expected = onesided ? size / 2 + 1 : size;
  if (input.size(-2) != expected)
    runtime_error("istft: expected ", expected, " frequencies, got ",
                  input.size(-2));
  if (call.flag(9) && onesided)
    runtime_error("Cannot have onesided output if window or input is complex");
  const Value batch = input.dim() == 2 ? fxjit::unsqueeze(call[0], 0) : call[0];
  return fxjit::transpose(batch, 1, 2);
}

// (input, n_fft, hop_length, win_length, window, center, normalized, onesided,
// length, return_complex).
Value istft(const OpCall& call) {
  const Windows w = windows_of(call);
  const Tensor input = meta_of(call[0]);
  const DType part = part_type(input.dtype());
  Value spectra = spectra_of(call, w.size);
  const Scaling scaling = call.flag(6) ? Scaling::root : Scaling::count;
  Value frames;
  if (call.flag(9)) {
    frames = fft_c2c(spectra, {2}, scaling, false);
  } else {
    spectra = fxjit::narrow(spectra, 2, 0, w.size / 2 + 1);
    frames = fft_c2r(spectra, {2}, scaling, w.size);
  }
  Value window = whole_window(w, part);
  if (window.is_none()) window = fxjit::ones(Dims{w.size}, part);
  const int64_t whole =
      support::ExactInt(w.hop) * (input.size(-1) - 1) + w.size;
  const int64_t start = call.flag(5) ? w.size / 2 : 0;
  const int64_t length = call.has(8)    ? call.integer(8)
                         : call.flag(5) ? whole - 2 * (w.size / 2)
                                        : whole;
  if (length < 0 || start > whole)
    runtime_error("istft: expected a length of 0 or more");
  const Value signal =
      call_row("fxjit.overlap_add", {frames, window, w.hop, start, length});
  return input.dim() == 2 ? fxjit::squeeze(signal, 0) : signal;
}

constexpr OpRow kSpectraRows[] = {
    inlined_row("stft",
                "input, n_fft, hop_length=None, win_length=None, window=None, "
                "center=True, pad_mode='reflect', normalized=False, "
                "onesided=None, return_complex=None, align_to_window=None",
                "torch.functional.stft! .stft", stft),
    inlined_row("istft",
                "input, n_fft, hop_length=None, win_length=None, window=None, "
                "center=True, normalized=False, onesided=None, length=None, "
                "return_complex=False",
                "torch.istft .istft", istft),
};

}  // namespace

std::span<const OpRow> spectrum_rows() { return kSpectraRows; }

}  // namespace fxjit::ops
