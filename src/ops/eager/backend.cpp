#include "src/ops/eager/backend.h"

#include <atomic>

namespace fxjit::ops {
namespace {

constexpr Backend kPlain;
constinit std::atomic<const Backend*> current{&kPlain};

}  // namespace

const Backend& set_backend(const Backend& backend) {
  return *current.exchange(&backend, std::memory_order_acq_rel);
}

const Backend& backend() { return *current.load(std::memory_order_acquire); }

}  // namespace fxjit::ops
