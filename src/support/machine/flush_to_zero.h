// The thread's floating-point unit takes numbers below the smallest normal one
// for zeros, as operands and as results, for the life of a scope.
#pragma once

#include <immintrin.h>

namespace fxjit::support {

class FlushToZero {
 public:
  FlushToZero() : before_(_mm_getcsr()) {
    constexpr unsigned kResults = 0x8000, kOperands = 0x0040;
    _mm_setcsr(before_ | kResults | kOperands);
  }
  ~FlushToZero() { _mm_setcsr(before_); }
  FlushToZero(const FlushToZero&) = delete;
  FlushToZero& operator=(const FlushToZero&) = delete;

 private:
  const unsigned before_;
};

}  // namespace fxjit::support
