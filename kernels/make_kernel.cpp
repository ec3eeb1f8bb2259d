// Which calls have a kernel of their own, and what happens when oneDNN fails.
#include "kernels/kernels.h"

#include "kernels/convolution/row_conv_kernel.h"
#include "kernels/copies/run_copy.h"
#include "kernels/copies/scan_kernel.h"
#include "kernels/onednn/extern_kernels.h"
#include "kernels/onednn/handles.h"
#include "kernels/onednn/runtime.h"
#include "kernels/pooling/pool_kernel.h"
#include "kernels/products/double_product.h"
#include "kernels/recurrence/kernel.h"
#include "src/support/memory/executable_memory.h"

namespace fxjit::kernels {
namespace {

using Kernel = std::shared_ptr<const program::ExternKernel>;

// Null where oneDNN may not be called or fails.
template <typename Make>
Kernel by_onednn(Make&& make) {
  if (!onednn::may_generate_code()) return nullptr;
  try {
    return make();
  } catch (const onednn::Failure& failure) {
    onednn::warn_once(failure.what());
    return nullptr;
  }
}

void warn_of_slow(const KernelRequest& request) {
  const DType dtype = request.results[0].as_tensor().dtype();
  onednn::warn_once(std::string(request.op.name()) + ": no fast kernel for " +
                    std::string(dtype_name(dtype)) +
                    "; some calls stay with the interpreter's");
}

}  // namespace

Kernel make_kernel(program::Routine routine, const KernelRequest& request,
                   int threads) {
  using program::Routine;
  const auto fast = [&](auto make) {
    Kernel kernel = by_onednn([&] { return make(request, threads); });
    if (!kernel) warn_of_slow(request);
    return kernel;
  };
  switch (routine) {
    case Routine::eager:
      return nullptr;
    case Routine::pool:
    case Routine::pool_last:
      return make_pool_kernel(request);
    case Routine::cumulative_sum:
      return make_scan_kernel(request);
    case Routine::recurrence:
      return make_recurrent_kernel(request, threads);
    case Routine::copy:
      return make_copy_kernel(request);
    case Routine::depthwise:
    case Routine::image_convolution:
      return make_row_conv_kernel(routine, request, threads);
    case Routine::convolution:
      return fast(onednn::make_conv_kernel);
    case Routine::half_product:
      return fast(onednn::make_product_kernel);
    case Routine::double_product:
      return make_double_product_kernel(request);
  }
  throw InternalError("routine out of range");
}

passes::FastHalves fast_halves() {
  return support::executable_memory_allowed() ? onednn::fast_halves()
                                              : passes::FastHalves();
}

Kernel make_matmul_kernel(const program::TileStep& step, CpuLevel level,
                          int threads) {
  if (level != CpuLevel::avx512 || host_cpu_level() != CpuLevel::avx512)
    return nullptr;
  return by_onednn(
      [&] { return onednn::make_product_of_panels(step, threads); });
}

}  // namespace fxjit::kernels
