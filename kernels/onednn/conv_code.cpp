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
    if (conv_->packed_bytes() == 0) return;
    packed_ = call.packed(
        1, {weights::Reader::convolution, conv_->packed_key(),
            conv_->packed_bytes(),
            [&](const void* from, std::byte* to) { conv_->pack(from, to); },
            call.constants[1].defined() &&
                call.constants[1].dtype() == DType::f32});
    packs_each_call_ = !packed_;
  }

  // Without work behind it.
  std::vector<program::PrimitiveArgument> arguments() const override {
    if (!packed_ || !request_.work.empty() || request_.tail_places > 0 ||
        !conv_->alone())
      return {};
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

  int64_t tasks() const override {
    return packs_each_call_ ? 1 : conv_->tasks();
  }
  size_t scratch_bytes() const override {
    return conv_->scratch_bytes() +
           (packs_each_call_ ? conv_->packed_bytes() : 0);
  }
  bool reads(size_t operand) const override {
    return operand != 1 || !packed_ || conv_->reads_plain_weight();
  }
  std::string describe() const override {
    return "oneDNN conv " + conv_->describe();
  }
  ComputedBy computed_by() const override { return ComputedBy::library; }

  void run(const program::StepCall& call, int64_t begin,
           int64_t end) const override {
    ConvData data;
    data.input = call.operands[0];
    data.weight = call.operands[1];
    data.bias = request_.bias_of(call);
    data.output = request_.output_of(call);
    data.work = request_.work_of(call);
    std::optional<ConvTail> tail;
    if (request_.tail_places > 0)
      data.tail = &tail.emplace(request_.tail_of(call, data.work));
    std::byte* scratch = call.scratch;
    bool good = true;
    if (packs_each_call_) {
      good = conv_->try_pack(data.weight, scratch);
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
  ConvRequest request_;
  std::shared_ptr<const Convolution> conv_;
  weights::Block packed_;
  bool packs_each_call_ = false;
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
  auto conv =
      Convolution::make(*shape, threads, with_tail || !asked->work.empty());
  // Few places are cut into some channels each.
  if (conv && with_tail && !conv->gives_places())
    conv = Convolution::make(*shape, 1);
  if (!conv) return nullptr;
  return std::make_shared<ConvCode>(std::move(*asked), std::move(conv),
                                    request);
}

}  // namespace fxjit::kernels::onednn
