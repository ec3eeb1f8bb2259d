// Spectra and windows.
#include <cmath>

#include "src/import/onnx/ops/families.h"

namespace fxjit::onnx {
namespace {

Value complex_of(const Value& x) {
  return function("torch.view_as_complex", {x});
}

Value parts_of(const Value& x) { return function("torch.view_as_real", {x}); }

// The last dim is the real part, or both parts.
Results spectrum(Call& call, Value axis) {
  const int64_t rank = call.rank(0);
  axis = axis.is_int() ? Value(call.wrap(axis.as_int(), rank)) : axis % rank;
  const bool inverse = call.flag("inverse", false);
  const bool onesided = call.flag("onesided", false);
  const Value parts = call.size(0, -1);
  if (!parts.is_int()) call.fail("the last dim varies");
  const bool real = parts.as_int() == 1;
  const Value length = call.has(1) ? call.scalar_int(1) : Value();
  const Value x = real ? squeeze(call[0], -1) : complex_of(call[0]);
  if (inverse && onesided)
    return unsqueeze(function("torch.fft.irfft", {x, length, axis}), -1);
  if (inverse) return parts_of(function("torch.fft.ifft", {x, length, axis}));
  if (onesided && real)
    return parts_of(function("torch.fft.rfft", {x, length, axis}));
  const Value whole = parts_of(function("torch.fft.fft", {x, length, axis}));
  if (!onesided) return whole;
  const Value size = function("torch.ops.aten.sym_size.int", {whole, axis});
  return narrow(whole, axis, 0, operators::floordiv(size, 2) + 1);
}

Results dft_17(Call& call) { return spectrum(call, call.integer("axis", 1)); }

Results dft(Call& call) {
  return spectrum(call, call.has(2) ? call.scalar_int(2) : Value(-2));
}

// Frames of the signal, weighed by the window.
Results stft(Call& call) {
  const Value step = call.scalar_int(1);
  Value length;
  if (call.has(3))
    length = call.scalar_int(3);
  else if (call.has(2))
    length = call.size(2, 0);
  else
    call.fail("neither a window nor a frame_length is given");
  const bool onesided = call.flag("onesided", true);
  const bool is_real = call.rank(0) == 2 || (call.size(0, -1).is_int() &&
                                             call.size(0, -1).as_int() == 1);
  Value x = call[0];
  if (call.rank(0) == 3) x = is_real ? squeeze(x, -1) : complex_of(x);
  Value frames = method(x, "unfold", {-1, length, step});
  if (call.has(2)) frames = frames * call[2];
  if (is_real && onesided)
    return parts_of(function("torch.fft.rfft", {frames, length, -1}));
  return parts_of(function("torch.fft.fft", {frames, length, -1}));
}

DType output_type(const Call& call) {
  return call.has_attribute("output_datatype")
             ? named_type(call, "output_datatype")
             : DType::f32;
}

// A sum of cosines: a0 - a1 cos(t) + a2 cos(2 t) over one period.
Results window(Call& call, double a0, double a1, double a2) {
  const Value size = call.scalar_int(0);
  const Value places = arange(size, None, None, DType::f64);
  const bool periodic = call.flag("periodic", true);
  const Value angles = places * (2 * M_PI) / (periodic ? size : size - 1);
  const Value made = a0 - a1 * cos(angles) + a2 * cos(2 * angles);
  return held(call, cast(call, made, output_type(call)));
}

Results hann(Call& call) { return window(call, 0.5, 0.5, 0); }

Results hamming(Call& call) { return window(call, 25.0 / 46, 21.0 / 46, 0); }

Results blackman(Call& call) { return window(call, 0.42, 0.5, 0.08); }

// Triangles over the bins of a spectrum, evenly spaced on the mel scale.
Results mel_weights(Call& call) {
  const auto count = call.known_int(0), dft_length = call.known_int(1),
             rate = call.known_int(2);
  const auto low = call.known_float(3), high = call.known_float(4);
  if (!count || !dft_length || !rate || !low || !high)
    call.fail("its inputs are not known when the model is loaded");
  const int64_t bins = *dft_length / 2 + 1, bands = *count;
  if (bands < 1 || bins < 1 || bands > (1 << 20) || bins > (1 << 20) ||
      bands * bins > (1 << 24) || *rate < 1)
    call.fail("num_mel_bins, dft_length or sample_rate is out of range");
  const auto mel = [](double hertz) {
    return 2595 * std::log10(1 + hertz / 700);
  };
  const double start = mel(*low);
  const double step = (mel(*high) - start) / static_cast<double>(bands + 2);
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < bands + 2; ++i) {
    const double hertz =
        700 *
        (std::pow(10, (start + static_cast<double>(i) * step) / 2595) - 1);
    edges.push_back(
        static_cast<int64_t>(std::floor(static_cast<double>(*dft_length + 1) *
                                        hertz / static_cast<double>(*rate))));
  }
  for (const int64_t edge : edges)
    if (edge < 0 || edge >= bins) call.fail("an edge is outside the spectrum");
  const Tensor weights = Tensor::zeros({bins, bands}, DType::f64);
  for (int64_t i = 0; i < bands; ++i) {
    const auto at = [&](int64_t bin) -> double& {
      return weights.data_as<double>()[bin * bands + i];
    };
    const auto side = static_cast<size_t>(i);
    const int64_t left = edges[side], middle = edges[side + 1],
                  right = edges[side + 2];
    if (middle == left) at(middle) = 1;
    for (int64_t bin = left; middle > left && bin <= middle; ++bin)
      at(bin) =
          static_cast<double>(bin - left) / static_cast<double>(middle - left);
    for (int64_t bin = middle; bin < right; ++bin)
      at(bin) = static_cast<double>(right - bin) /
                static_cast<double>(right - middle);
  }
  return call.recorder().constant(weights.to(output_type(call)));
}

constexpr OpRow kSignalsOps[] = {
    {.op = "BlackmanWindow", .since = 17, .run = blackman},
    {.op = "DFT", .since = 17, .run = dft_17},
    {.op = "DFT", .since = 20, .run = dft},
    {.op = "HammingWindow", .since = 17, .run = hamming},
    {.op = "HannWindow", .since = 17, .run = hann},
    {.op = "MelWeightMatrix", .since = 17, .run = mel_weights},
    {.op = "STFT", .since = 17, .run = stft},
};

}  // namespace

std::span<const OpRow> signal_rows() { return kSignalsOps; }

}  // namespace fxjit::onnx
