// Convolution steps. Operands: input, weight, bias if any, output.
#include "kernels/onednn/convolution.h"
#include "kernels/onednn/extern_kernels.h"
#include "kernels/onednn/packed_weights.h"
#include "src/passes/lower.h"

namespace fxjit::kernels::onednn {
namespace {

class ConvKernel : public program::ExternKernel {
 public:
  // `weight` is undefined unless it is a constant.
  ConvKernel(const ConvShape& shape, std::shared_ptr<const Convolution> conv,
             const Tensor& weight)
      : conv_(std::move(conv)), has_bias_(shape.bias) {
    if (conv_->packed_bytes() == 0) return;
    if (!weight.defined()) {
      packs_each_call_ = true;
      return;
    }
    packed_ = PackedWeights::get(
        weight, conv_->packed_key(), conv_->packed_bytes(),
        [&](const void* from, std::byte* to) { conv_->pack(from, to); });
  }

  int64_t tasks() const override {
    return packs_each_call_ ? 1 : conv_->tasks();
  }
  size_t scratch_bytes() const override {
    return conv_->scratch_bytes() +
           (packs_each_call_ ? conv_->packed_bytes() : 0);
  }
  std::string describe() const override {
    return "oneDNN conv " + conv_->describe();
  }
  bool native() const override { return true; }

  void run(const program::KernelCall& call, int64_t begin,
           int64_t end) const override {
    ConvData data;
    data.input = call.operands[0];
    data.weight = call.operands[1];
    data.bias = has_bias_ ? call.operands[2] : nullptr;
    data.output = call.operands[has_bias_ ? 3 : 2];
    std::byte* scratch = call.scratch;
    bool good = true;
    if (packs_each_call_) {
      good = pack(data.weight, scratch);
      data.packed = scratch;
      scratch += conv_->packed_bytes();
      end = conv_->tasks();
    } else if (packed_) {
      data.packed = packed_->data();
    }
    if (!good || !conv_->run(data, scratch, begin, end))
      *call.status = program::kFailed;
  }

 private:
  bool pack(const void* weight, std::byte* packed) const {
    try {
      conv_->pack(weight, packed);
      return true;
    } catch (const Failure&) {
      return false;
    }
  }

  std::shared_ptr<const Convolution> conv_;
  std::shared_ptr<const PackedWeights> packed_;
  bool has_bias_;
  bool packs_each_call_ = false;
};

}  // namespace

std::shared_ptr<const program::ExternKernel> make_conv_kernel(
    const program::KernelRequest& request, int threads) {
  const ops::OpCall call{request.op, request.args};
  const ops::ConvParams params = ops::conv_params(call);
  auto shape =
      conv_shape(params, call.tensor(0), call.tensor(1), call.has(2));
  if (!shape || !request.results[0].as_tensor().is_contiguous()) return nullptr;
  if (&request.op == &passes::conv_last_op()) put_channels_last(*shape);
  if (call.has(2) && !call.tensor(2).is_contiguous()) return nullptr;
  auto conv = Convolution::make(*shape, threads);
  if (!conv) return nullptr;
  return std::make_shared<ConvKernel>(*shape, std::move(conv),
                                      request.constants[1]);
}

}  // namespace fxjit::kernels::onednn
