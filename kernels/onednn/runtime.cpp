#include "kernels/onednn/runtime.h"

#include <omp.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>

#include "fxjit/log.h"
#include "kernels/kernels.h"
#include "kernels/onednn/handles.h"
#include "src/support/memory/executable_memory.h"

namespace fxjit::kernels {

std::string onednn_version() {
  const dnnl_version_t* v = dnnl_version();
  return "v" + std::to_string(v->major) + "." + std::to_string(v->minor) + "." +
         std::to_string(v->patch);
}

namespace onednn {

bool may_generate_code() {
  if (support::executable_memory_allowed()) return true;
  warn_once(
      "executable memory is denied: plain loops compute products, convolutions "
      "and pooling");
  return false;
}

namespace {

// Makes the cache that all primitives share, with a bound. Without one it keeps
// 1024 primitives, also those of programs that were dropped long ago, unless
// the host program or the environment has set another number. It is made here,
// and not on first use, because race detectors do not see the locks of code
// that was built without them.
void bound_primitive_cache() {
  constexpr int kDefault = 1024, kMost = 64;
  int capacity = 0;
  check(dnnl_get_primitive_cache_capacity(&capacity),
        "asking for the cache of primitives");
  if (capacity == kDefault)
    check(dnnl_set_primitive_cache_capacity(kMost),
          "bounding the cache of primitives");
}

}  // namespace

dnnl_engine_t engine() {
  static const dnnl_engine_t shared = [] {
    keep_statics();
    dnnl_engine_t made = nullptr;
    check(dnnl_engine_create(&made, dnnl_cpu, 0), "making the CPU engine");
    bound_primitive_cache();
    return made;
  }();
  return shared;
}

namespace {

// The number of threads that use oneDNN, and whether the process is ending.
// Each side changes its own number first and then reads the other's.
constinit std::atomic<int> uses{0};
constinit std::atomic<bool> ended{false};
constinit thread_local int own_uses = 0;

// Runs when the process unloads its libraries, this one before oneDNN.
// keep_statics() does not cover the objects that oneDNN made when it was
// loaded, so running uses are waited for. The wait is bounded, since a thread
// may have been stopped for good, by a debugger for example.
[[gnu::destructor]] void end_use() {
  constexpr std::chrono::seconds kLongest{10};
  ended = true;
  const auto deadline = std::chrono::steady_clock::now() + kLongest;
  while (uses > (own_uses > 0 ? 1 : 0) &&
         std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::microseconds(50));
}

}  // namespace

bool Use::enter() noexcept {
  support::begin_section();
  if (own_uses++ == 0) ++uses;
  return !ended;
}

void Use::leave() noexcept {
  if (--own_uses == 0) --uses;
  support::end_section();
}

int32_t SingleThread::enter() noexcept {
  if (!Use::enter()) {
    Use::leave();
    return 0;
  }
  const int before = omp_get_max_threads();
  if (before != 1) omp_set_num_threads(1);
  return before;
}

void SingleThread::leave(int32_t before) noexcept {
  if (before != 1) omp_set_num_threads(before);
  Use::leave();
}

SingleThread::SingleThread() : before_(enter()) {
  if (before_ == 0) throw Failure("oneDNN: not used as the process ends");
}

SingleThread::~SingleThread() { leave(before_); }

void warn_once(const std::string& text) {
  if (ended) return;  // Who calls while the process ends has no use for it.
  // Texts name implementations and statuses, of which there are few; the bound
  // only keeps a mistake from growing without end.
  constexpr size_t kMostTexts = 256;
  static std::mutex mutex;
  static std::set<std::string>* seen = new std::set<std::string>;
  {
    std::lock_guard lock(mutex);
    if (seen->size() >= kMostTexts || !seen->insert(text).second) return;
  }
  log(LogLevel::warning, text);
}

}  // namespace onednn
}  // namespace fxjit::kernels
