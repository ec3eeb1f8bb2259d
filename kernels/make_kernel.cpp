// Which calls have a kernel of their own, and what happens when oneDNN fails.
#include "kernels/kernels.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "kernels/double_product.h"
#include "kernels/onednn/extern_kernels.h"
#include "kernels/onednn/handles.h"
#include "kernels/onednn/runtime.h"
#include "kernels/pool_kernel.h"
#include "kernels/recurrent_kernel.h"
#include "kernels/row_conv_kernel.h"
#include "kernels/run_copy.h"
#include "kernels/scan_kernel.h"
#include "src/tensor/visit.h"

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

Kernel make_scan(const program::KernelRequest& request, int) {
  return make_scan_kernel(request);
}

Kernel make_copy(const program::KernelRequest& request, int) {
  return make_copy_kernel(request);
}

// Ops with a routine of their own.
struct Row {
  std::string_view op;
  Kernel (*make)(const program::KernelRequest& request, int threads);
};

constexpr Row kRows[] = {
    {"cumsum", make_scan},
    {"fxjit.materialize", make_copy},
    {"fxjit.recurrence", make_recurrent_kernel},
};

}  // namespace

Kernel make_kernel(const program::KernelRequest& request, int threads) {
  using onednn::make_conv_kernel, onednn::make_product_kernel;
  const ops::Lowering lowering = request.op.row.lowering;
  if (lowering == ops::Lowering::pool) return make_pool_kernel(request);
  const auto* const own = std::ranges::find(kRows, request.op.name(), &Row::op);
  if (own != std::end(kRows)) return own->make(request, threads);
  const bool conv = lowering == ops::Lowering::convolution;
  const DType dtype = request.results[0].as_tensor().dtype();
  const bool half = compute_dtype(dtype) != dtype;
  if (lowering == ops::Lowering::contraction && dtype == DType::f64)
    return make_double_product_kernel(request);
  if (conv)
    if (Kernel kernel = make_row_conv_kernel(request, threads)) return kernel;
  if (!conv && !(lowering == ops::Lowering::contraction && half))
    return nullptr;
  Kernel kernel = by_onednn([&] {
    return conv ? make_conv_kernel(request, threads)
                : make_product_kernel(request, threads);
  });
  if (!kernel)
    onednn::warn_once(std::string(request.op.name()) + ": no fast kernel for " +
                      std::string(dtype_name(dtype)) +
                      "; some calls stay with the interpreter's");
  return kernel;
}

bool has_kernel(const ops::Op& op, const ValueList& args) {
  if (!onednn::may_generate_code()) return false;
  try {
    if (op.row.lowering != ops::Lowering::convolution)
      return onednn::has_product_kernel({op, args});
    size_t tensors = 0;
    for (const Value& arg : args) tensors += arg.is_tensor();
    const program::KernelRequest request{
        op, args, std::vector<Tensor>(tensors), {ops::infer({op, args})}};
    return onednn::make_conv_kernel(request, 1) != nullptr;
  } catch (const onednn::Failure& failure) {
    onednn::warn_once(failure.what());
    return false;
  }
}

Kernel make_matmul_kernel(const program::TileStep& step, CpuLevel level,
                          int threads) {
  if (level != CpuLevel::avx512 || host_cpu_level() != CpuLevel::avx512)
    return nullptr;
  return by_onednn([&] { return onednn::make_tile_kernel(step, threads); });
}

}  // namespace fxjit::kernels
