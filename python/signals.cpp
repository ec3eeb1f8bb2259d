#include "python/signals.h"

#include <nanobind/nanobind.h>

#include <cstdint>
#include <ctime>

namespace fxjit::python {
namespace {

namespace nb = nanobind;

// The clock that the kernel keeps anyway: iterations may take 100 ns.
int64_t coarse_milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

}  // namespace

std::function<bool()> interrupted_by_signals() {
  return [] {
    constexpr int64_t kMilliseconds = 20;
    thread_local int64_t asked = 0;
    const int64_t now = coarse_milliseconds();
    if (now - asked < kMilliseconds) return false;
    asked = now;
    const nb::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    return false;  // What a handler raised was thrown: no call ends by `true`.
  };
}

}  // namespace fxjit::python
