// Convolution steps. Operands: see ConvRequest.
#include "kernels/convolution/conv_request.h"
#include "kernels/onednn/call_codes.h"
#include "kernels/onednn/convolution.h"
#include "src/program/driver/primitive_code.h"

namespace fxjit::kernels::onednn {
namespace {

class ConvCode : public program::PrimitiveCode {
 public:
  ConvCode(ConvRequest request, std::shared_ptr<const Convolution> conv,
           const CallRequest& call)
      : request_(std::move(request)), conv_(std::move(conv)) {
    packed_ = call.packed(
        1, {weights::Reader::convolution, conv_->packed_key(),
            conv_->packed_bytes(),
            [&](const void* from, std::byte* to) { conv_->pack(from, to); },
            call.constants[1].defined() &&
                call.constants[1].dtype() == DType::f32});
  }

  // Without work behind it.
  std::vector<program::PrimitiveArgument> arguments() const override {
    if (!packed_ || request_.tail_places > 0 || !conv_->alone()) return {};
    using Kind = program::PrimitiveArgument::Kind;
    std::vector<program::PrimitiveArgument> all = {
        {Kind::operand, 0},
        {Kind::constant, -1, packed_->data()},
        {Kind::operand, static_cast<int32_t>(request_.output_operand())}};
    if (request_.has_bias) all.push_back({Kind::operand, 2});
    all.push_back({Kind::scratch});
    return all;
  }
  std::unique_ptr<program::BoundPrimitive> bind() const override {
    return conv_->alone()->bind_for_driver();
  }

  int64_t tasks() const override { return packed_ ? conv_->tasks() : 1; }
  size_t scratch_bytes() const override {
    return conv_->scratch_bytes() + (packed_ ? 0 : conv_->packed_bytes());
  }
  bool reads(size_t operand) const override { return operand != 1 || !packed_; }
  std::string describe() const override {
    return "oneDNN conv " + conv_->describe();
  }
  ComputedBy computed_by() const override { return ComputedBy::library; }

  void run(const program::StepCall& call, int64_t begin,
           int64_t end) const override {
    ConvData data;
    data.input = call.operands[0];
    data.bias = request_.bias_of(call);
    data.output = request_.output_of(call);
    const auto tail = request_.tail_of(call);
    data.tail = tail ? &*tail : nullptr;
    std::byte* scratch = call.scratch;
    bool good = true;
    if (packed_) {
      data.packed = packed_->data();
    } else {
      good = conv_->try_pack(call.operands[1], scratch);
      data.packed = scratch;
      scratch += conv_->packed_bytes();
      end = conv_->tasks();
    }
    if (!good || !conv_->run(data, scratch, begin, end))
      *call.status = program::kFailed;
  }

 private:
  ConvRequest request_;
  std::shared_ptr<const Convolution> conv_;
  weights::Block packed_;  // Null where each call packs.
};

}  // namespace

std::shared_ptr<const program::ExternCode> make_conv_code(
    const CallRequest& request, int threads) {
  auto asked = ConvRequest::read(request);
  if (!asked) return nullptr;
  const ops::OpCall call{request.op, request.args};
  auto shape = conv_shape(asked->params, call.tensor(0), call.tensor(1),
                          asked->has_bias);
  if (!shape) return nullptr;
  if (asked->channels_last) put_channels_last(*shape);
  const bool with_tail = asked->tail_places > 0;
  auto conv = Convolution::make(*shape, threads, with_tail);
  // Few places are cut into some channels each.
  if (conv && with_tail && !conv->gives_places())
    conv = Convolution::make(*shape, 1);
  if (!conv) return nullptr;
  return std::make_shared<ConvCode>(std::move(*asked), std::move(conv),
                                    request);
}

}  // namespace fxjit::kernels::onednn
