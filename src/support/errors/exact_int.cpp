#include "src/support/errors/exact_int.h"

#include <string>

#include "fxjit/error.h"

namespace fxjit::support {

void throw_inexact(int64_t a, const char* operation, int64_t b) {
  throw RuntimeError("integer overflow: " + std::to_string(a) + " " +
                     operation + " " + std::to_string(b) +
                     " does not fit 64 bits");
}

}  // namespace fxjit::support
