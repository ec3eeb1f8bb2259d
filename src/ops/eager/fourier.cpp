#include "src/ops/eager/fourier.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace fxjit::ops {
namespace {

// Factors up to this are summed term by term.
constexpr int64_t kLargestRadix = 13;

Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
Complex operator*(Complex a, Complex b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
Complex conj(Complex a) { return {a.re, -a.im}; }

// exp(-2 pi i k / n).
Complex root(int64_t k, int64_t n) {
  const double angle =
      2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
  return {std::cos(angle), -std::sin(angle)};
}

std::vector<int64_t> factors(int64_t n) {
  std::vector<int64_t> found;
  for (const int64_t radix : {4, 2, 3, 5, 7, 11, 13})
    for (; n % radix == 0; n /= radix) found.push_back(radix);
  if (n > 1) found.clear();
  return found;
}

}  // namespace

FourierPlan::FourierPlan(int64_t length)
    : length_(length), radices_(factors(length)) {
  if (length == 1) return;
  if (!radices_.empty()) {
    for (int64_t k = 0; k < length; ++k) roots_.push_back(root(k, length));
    scratch_.resize(static_cast<size_t>(length));
    return;
  }
  int64_t wide = 1;
  while (wide < 2 * length - 1) wide *= 2;
  convolution_ = std::make_unique<FourierPlan>(wide);
  // exp(-pi i k^2 / length): the squares count modulo 2 length.
  int64_t square = 0;
  for (int64_t k = 0; k < length; ++k) {
    chirp_.push_back(root(square, 2 * length));
    square = (square + 2 * k + 1) % (2 * length);
  }
  chirp_spectrum_.resize(static_cast<size_t>(wide));
  chirp_spectrum_[0] = conj(chirp_[0]);
  for (size_t k = 1; k < chirp_.size(); ++k)
    chirp_spectrum_[k] = chirp_spectrum_[chirp_spectrum_.size() - k] =
        conj(chirp_[k]);
  convolution_->run(chirp_spectrum_.data(), true);
  scratch_.resize(static_cast<size_t>(wide));
}

FourierPlan::~FourierPlan() = default;

void FourierPlan::run(Complex* data, bool forward) {
  if (length_ == 1) return;
  if (forward) return run_forward(data);
  for (int64_t i = 0; i < length_; ++i) data[i] = conj(data[i]);
  run_forward(data);
  for (int64_t i = 0; i < length_; ++i) data[i] = conj(data[i]);
}

// Stockham's algorithm: each pass takes one factor off the blocks and leaves
// the results in order.
void FourierPlan::run_forward(Complex* data) {
  if (convolution_) return run_as_convolution(data);
  Complex *from = data, *to = scratch_.data();
  int64_t block = length_, stride = 1;
  for (const int64_t radix : radices_) {
    pass(radix, block, stride, from, to);
    std::swap(from, to);
    block /= radix;
    stride *= radix;
  }
  if (from != data) std::copy(from, from + length_, data);
}

void FourierPlan::pass(int64_t radix, int64_t block, int64_t stride,
                       const Complex* from, Complex* to) {
  const int64_t part = block / radix, turn = length_ / radix;
  Complex in[kLargestRadix];
  for (int64_t p = 0; p < part; ++p)
    for (int64_t q = 0; q < stride; ++q) {
      for (int64_t k = 0; k < radix; ++k)
        in[k] = from[q + stride * (p + k * part)];
      Complex* const out = to + q + stride * radix * p;
      const Complex* const twiddle = roots_.data();
      const int64_t step = p * stride;  // Below turn: no product wraps.
      if (radix == 2) {
        out[0] = in[0] + in[1];
        out[stride] = (in[0] - in[1]) * twiddle[step];
        continue;
      }
      if (radix == 4) {
        const Complex a = in[0] + in[2], b = in[0] - in[2];
        const Complex c = in[1] + in[3], d = in[1] - in[3];
        const Complex turned{d.im, -d.re};
        out[0] = a + c;
        out[stride] = (b + turned) * twiddle[step];
        out[2 * stride] = (a - c) * twiddle[2 * step];
        out[3 * stride] = (b - turned) * twiddle[3 * step];
        continue;
      }
      for (int64_t j = 0; j < radix; ++j) {
        Complex sum = in[0];
        for (int64_t k = 1; k < radix; ++k)
          sum = sum + in[k] * roots_[static_cast<size_t>(j * k % radix * turn)];
        out[j * stride] = sum * twiddle[j * step];
      }
    }
}

void FourierPlan::run_as_convolution(Complex* data) {
  std::fill(scratch_.begin(), scratch_.end(), Complex{});
  for (size_t k = 0; k < chirp_.size(); ++k) scratch_[k] = data[k] * chirp_[k];
  convolution_->run(scratch_.data(), true);
  for (size_t k = 0; k < scratch_.size(); ++k)
    scratch_[k] = scratch_[k] * chirp_spectrum_[k];
  convolution_->run(scratch_.data(), false);
  const double scale = 1 / static_cast<double>(convolution_->length());
  for (size_t k = 0; k < chirp_.size(); ++k)
    data[k] = scratch_[k] * chirp_[k] * Complex{scale, 0};
}

}  // namespace fxjit::ops
