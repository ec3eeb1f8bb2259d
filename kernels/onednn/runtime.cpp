#include "kernels/onednn/runtime.h"

#include <omp.h>

#include <mutex>
#include <set>

#include "fxjit/log.h"
#include "kernels/kernels.h"
#include "kernels/onednn/handles.h"
#include "src/support/executable_memory.h"

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

dnnl_engine_t engine() {
  static const dnnl_engine_t shared = [] {
    dnnl_engine_t made = nullptr;
    check(dnnl_engine_create(&made, dnnl_cpu, 0), "making the CPU engine");
    // Makes the cache that all primitives share. oneDNN guards that itself, but
    // race detectors do not see so in code that was built without them.
    int capacity = 0;
    check(dnnl_get_primitive_cache_capacity(&capacity),
          "asking for the cache of primitives");
    return made;
  }();
  return shared;
}

SingleThread::SingleThread() : before_(omp_get_max_threads()) {
  if (before_ != 1) omp_set_num_threads(1);
}

SingleThread::~SingleThread() {
  if (before_ != 1) omp_set_num_threads(before_);
}

void warn_once(const std::string& text) {
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
