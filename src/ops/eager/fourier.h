// Discrete Fourier transforms of one length, in double precision. Used by the
// eager functions of torch.fft's ops.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace fxjit::ops {

struct Complex {
  double re = 0, im = 0;
};

class FourierPlan {
 public:
  explicit FourierPlan(int64_t length);
  ~FourierPlan();
  FourierPlan(const FourierPlan&) = delete;
  FourierPlan& operator=(const FourierPlan&) = delete;

  int64_t length() const { return length_; }
  // Transforms `length` numbers in place, without a factor: with powers of
  // exp(-2 pi i / length) forward, of its conjugate backward. Not thread-safe.
  void run(Complex* data, bool forward);

 private:
  void run_forward(Complex* data);
  void pass(int64_t radix, int64_t block, int64_t stride, const Complex* from,
            Complex* to);
  void run_as_convolution(Complex* data);

  const int64_t length_;
  std::vector<int64_t> radices_;  // Empty where there is a large prime factor.
  std::vector<Complex> roots_;    // exp(-2 pi i k / length).
  std::vector<Complex> scratch_;
  // Bluestein's algorithm: a convolution with a chirp, by a transform whose
  // length is a power of 2.
  std::unique_ptr<FourierPlan> convolution_;
  std::vector<Complex> chirp_, chirp_spectrum_;
};

}  // namespace fxjit::ops
