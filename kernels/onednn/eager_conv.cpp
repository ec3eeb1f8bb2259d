// Convolutions of the interpreter. Nothing tells that weights stay the same, so
// they are packed in each call; the primitives are kept.
#include <atomic>

#include "fxjit/thread_pool.h"
#include "kernels/onednn/convolution.h"
#include "kernels/onednn/eager.h"
#include "kernels/onednn/runtime.h"
#include "kernels/thread_scratch.h"
#include "src/support/memory/aligned_block.h"
#include "src/tensor/visit.h"

namespace fxjit::kernels::onednn {
namespace {

// Below this the plain loop is done before a primitive would be found.
constexpr double kSmallFlops = 2e4;

ShapeCache<Convolution>& cache() {
  static auto* shared = new ShapeCache<Convolution>(kMostConvolutions);
  return *shared;
}

std::shared_ptr<const Convolution> find_or_make(const ConvShape& shape) {
  const ShapeKey key = shape.key();
  std::shared_ptr<const Convolution> found;
  if (cache().find(key, &found)) return found;
  if (!may_generate_code()) return nullptr;
  found = by_onednn([&] {
    return Convolution::make(shape, support::ThreadPool::shared().size());
  });
  cache().add(key, found);
  return found;
}

bool run(const Convolution& conv, const Tensor& input, const Tensor& weight,
         const Tensor& bias, const Tensor& out) {
  const support::AlignedBlock packed(conv.packed_bytes());
  if (!conv.try_pack(weight.data(), packed.data())) return false;
  const ConvData data{input.data(), weight.data(), packed.data(),
                      bias.defined() ? bias.data() : nullptr, out.data(), {}};
  std::atomic<bool> good = true;
  support::ThreadPool::shared().parallel_for(
      conv.tasks(),
      [&](int64_t begin, int64_t end, int) {
        std::byte* scratch = thread_scratch(conv.scratch_bytes());
        if (!conv.run(data, scratch, begin, end))
          good.store(false, std::memory_order_relaxed);
      },
      static_cast<int>(conv.tasks()));
  return good;
}

}  // namespace

size_t convolutions_kept() { return cache().size(); }

bool eager_conv(const ops::ConvParams& params, const Tensor& input,
                const Tensor& weight, const Tensor& bias, const Tensor& out) {
  Tensor x = input, w = weight;
  if (x.dim() > 0 && !is_dense_view(x.sizes(), x.strides())) x = x.contiguous();
  if (!is_dense_view(w.sizes(), w.strides())) w = w.contiguous();
  const auto shape = conv_shape(params, x, w, bias.defined());
  if (!shape || shape->flops() < kSmallFlops) return false;
  if (const auto conv = find_or_make(*shape))
    return run(*conv, x, w, bias.defined() ? bias.contiguous() : bias, out);
  if (compute_dtype(x.dtype()) == x.dtype()) return false;
  // Half types that oneDNN does not compute here: in float, rounded once.
  const Tensor wide = Tensor::empty(out.sizes());
  const Tensor wide_bias = bias.defined() ? bias.to(DType::f32) : bias;
  if (!eager_conv(params, x.to(DType::f32), w.to(DType::f32), wide_bias, wide))
    return false;
  out.copy_from(wide);
  return true;
}

}  // namespace fxjit::kernels::onednn
