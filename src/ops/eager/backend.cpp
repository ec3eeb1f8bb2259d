#include "src/ops/eager/backend.h"

#include <atomic>

namespace fxjit::ops {
namespace {

constinit std::atomic<MatmulBackend> matmul_installed{nullptr};
constinit std::atomic<WindowBackend> window_installed{nullptr};
constinit thread_local int plain_scopes = 0;

}  // namespace

MatmulBackend set_matmul_backend(MatmulBackend function) {
  return matmul_installed.exchange(function, std::memory_order_acq_rel);
}

WindowBackend set_window_backend(WindowBackend function) {
  return window_installed.exchange(function, std::memory_order_acq_rel);
}

MatmulBackend matmul_backend() {
  return matmul_installed.load(std::memory_order_acquire);
}

std::optional<Value> window_by_backend(const OpCall& call) {
  const WindowBackend function =
      window_installed.load(std::memory_order_acquire);
  Value result;
  if (plain_scopes > 0 || !function || !function(call, &result))
    return std::nullopt;
  return result;
}

PlainWindows::PlainWindows() { ++plain_scopes; }
PlainWindows::~PlainWindows() { --plain_scopes; }

}  // namespace fxjit::ops
