#include <algorithm>

#include "kernels/convolution/conv_request.h"
#include "kernels/convolution/image_conv.h"
#include "kernels/routines.h"
#include "src/support/rounding.h"

namespace fxjit::kernels {
namespace {

class ImageConvRoutine : public program::ExternCode {
 public:
  ImageConvRoutine(ConvRequest request, ImageConv conv, const CallRequest& call,
                   int threads)
      : request_(std::move(request)),
        conv_(std::move(conv)),
        level_(call.level) {
    // Work that pays for a hand-over between threads.
    constexpr double kLeastFlops = 1.5e5;
    const double worth = conv_.flops() / kLeastFlops;
    const auto pieces = std::min<int64_t>(
        threads, std::max<int64_t>(1, static_cast<int64_t>(worth)));
    rows_per_task_ = (conv_.rows() + pieces - 1) / pieces;
    packed_ =
        call.packed(1, {ImageConv::kReader, conv_.packed_key(),
                        conv_.packed_bytes(),
                        [&](const void* from, std::byte* to) {
                          conv_.pack(static_cast<const float*>(from),
                                     reinterpret_cast<float*>(to));
                        },
                        true});
  }

  int64_t tasks() const override {
    return packed_ ? (conv_.rows() + rows_per_task_ - 1) / rows_per_task_ : 1;
  }
  size_t scratch_bytes() const override { return own_packed_bytes(); }
  bool reads(size_t operand) const override { return operand != 1 || !packed_; }
  std::string describe() const override {
    return "convolution of few channels";
  }
  ComputedBy computed_by() const override { return ComputedBy::routine; }

  void run(const program::StepCall& call, int64_t begin,
           int64_t end) const override {
    ImageConv::Data data;
    data.input = static_cast<const float*>(call.operands[0]);
    data.bias = request_.bias_of(call);
    data.output = static_cast<float*>(request_.output_of(call));
    data.level = level_;
    if (packed_) {
      data.packed = reinterpret_cast<const float*>(packed_->data());
    } else {
      auto* packed = reinterpret_cast<float*>(call.scratch);
      conv_.pack(static_cast<const float*>(call.operands[1]), packed);
      data.packed = packed;
      end = begin + (conv_.rows() + rows_per_task_ - 1) / rows_per_task_;
    }
    run_rows(call, data, begin * rows_per_task_,
             std::min(end * rows_per_task_, conv_.rows()));
  }

 private:
  void run_rows(const program::StepCall& call, const ImageConv::Data& data,
                int64_t begin, int64_t end) const {
    const auto tail = request_.tail_of(call);
    if (!tail) return conv_.run(data, begin, end);
    // Loops share what they read between this many rows; more while results
    // stay in the first-level cache.
    constexpr int64_t kLeastRows = 8, kCachedFloats = 4 << 10;
    const int64_t places = conv_.row_places();
    const int64_t rows = std::max<int64_t>(
        kLeastRows, kCachedFloats / (places * request_.params.output[1]));
    for (int64_t first = begin; first < end; first += rows) {
      const int64_t last = std::min(first + rows, end);
      conv_.run(data, first, last);
      tail->run(first * places, (last - first) * places);
    }
  }

  // What weights that are not constant take of scratch.
  size_t own_packed_bytes() const {
    return packed_ ? 0 : support::round_up(conv_.packed_bytes(), size_t{64});
  }

  ConvRequest request_;
  ImageConv conv_;
  CpuLevel level_;
  int64_t rows_per_task_;
  weights::Block packed_;
};

}  // namespace

std::shared_ptr<const program::ExternCode> make_image_conv_routine(
    const CallRequest& request, int threads) {
  auto asked = ConvRequest::read(request);
  FXJIT_CHECK(asked, "the planner asked for loops over rows");
  const ops::OpCall call{request.op, request.args};
  ImageConv conv(asked->params, call.tensor(0), call.tensor(1));
  return std::make_shared<ImageConvRoutine>(std::move(*asked), std::move(conv),
                                            request, threads);
}

}  // namespace fxjit::kernels
