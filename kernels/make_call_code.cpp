// The code of calls by routines and primitives, and what happens when oneDNN
// fails.
#include "kernels/kernels.h"

#include "kernels/onednn/call_codes.h"
#include "kernels/onednn/driver_calls.h"
#include "kernels/onednn/handles.h"
#include "kernels/onednn/runtime.h"
#include "kernels/routines.h"
#include "src/support/memory/executable_memory.h"

namespace fxjit::kernels {
namespace {

using Code = std::shared_ptr<const program::ExternCode>;

void warn_of_slow(const CallRequest& request) {
  const DType dtype = request.results[0].as_tensor().dtype();
  onednn::warn_once(std::string(request.op.name()) + ": no fast kernel for " +
                    std::string(dtype_name(dtype)) +
                    "; some calls stay with the interpreter's");
}

}  // namespace

Code make_call_code(program::CallCode code, const CallRequest& request,
                    int threads) {
  using program::CallCode;
  const auto fast = [&](auto make) {
    Code made = onednn::by_onednn([&] { return make(request, threads); });
    if (!made) warn_of_slow(request);
    return made;
  };
  switch (code) {
    case CallCode::eager:
      return nullptr;
    case CallCode::cumulative_sum:
      return make_scan_routine(request);
    case CallCode::recurrence:
      return make_recurrent_routine(request, threads);
    case CallCode::copy:
      return make_copy_routine(request);
    case CallCode::image_convolution:
      return make_image_conv_routine(request, threads);
    case CallCode::convolution:
      return fast(onednn::make_conv_code);
    case CallCode::half_product:
      return fast(onednn::make_product_code);
    case CallCode::double_product:
      return make_double_product_routine(request);
  }
  throw InternalError("CallCode out of range");
}

std::span<const std::pair<const char*, void*>> driver_symbols() {
  return onednn::driver_symbols();
}

passes::FastHalves fast_halves() {
  return support::executable_memory_allowed() ? onednn::fast_halves()
                                              : passes::FastHalves();
}

Code make_library_product(const program::TileStep& step, CpuLevel level,
                          int threads) {
  if (level != CpuLevel::avx512 || host_cpu_level() != CpuLevel::avx512)
    return nullptr;
  return onednn::by_onednn(
      [&] { return onednn::make_product_of_panels(step, threads); });
}

}  // namespace fxjit::kernels
