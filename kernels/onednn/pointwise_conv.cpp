// 1x1 convolutions on large planes: out[C_out, places] = W * in[C, places], a
// product on the tensors as they lie, without copies between layouts.
#include "kernels/onednn/convolution.h"

namespace fxjit::kernels::onednn {
namespace {

// Below this the tail of a row of places costs more than the copies.
constexpr int64_t kLeastPlaces = 400;

void add_bias(const float* bias, int64_t channels, int64_t places,
              int64_t channel_stride, float* out) {
  for (int64_t c = 0; c < channels; ++c, out += channel_stride) {
    const float value = bias[c];
    for (int64_t i = 0; i < places; ++i) out[i] += value;
  }
}

class PointwiseConv : public ConvPrimitive {
 public:
  PointwiseConv(const ConvShape& shape, int64_t places,
                std::shared_ptr<const Matmul> product)
      : shape_(shape), places_(places), product_(std::move(product)) {}

  std::string describe() const override {
    return product_->implementation() + ", product";
  }
  size_t scratch_bytes() const override { return product_->scratch_bytes(); }
  const_dnnl_memory_desc_t packed_weights() const override { return nullptr; }

  bool run(const ConvData& data, std::byte* scratch) const override {
    const auto* in = static_cast<const float*>(data.input);
    auto* out = static_cast<float*>(data.output);
    for (int64_t n = 0; n < shape_.input[0]; ++n) {
      if (!product_->run(data.weight, in, nullptr, out, scratch)) return false;
      if (shape_.bias)
        add_bias(static_cast<const float*>(data.bias), shape_.output_channels(),
                 places_, shape_.output_strides[1], out);
      in += shape_.input_strides[0];
      out += shape_.output_strides[0];
    }
    return true;
  }

 private:
  ConvShape shape_;
  int64_t places_;
  std::shared_ptr<const Matmul> product_;
};

}  // namespace

std::unique_ptr<ConvPrimitive> make_pointwise_conv(const ConvShape& shape) {
  const int64_t places = shape.product_places();
  if (places < kLeastPlaces || shape.dtype != DType::f32) return nullptr;
  MatmulShape product;
  product.rows = shape.output_channels();
  product.columns = places;
  product.depth = shape.input_channels();
  product.a_row = shape.weight_strides[0];
  product.a_depth = shape.weight_strides[1];
  product.b_depth = shape.input_strides[1];
  product.c_row = shape.output_strides[1];
  if (!product.a_is_readable() || !product.b_is_readable()) return nullptr;
  auto made = Matmul::make(product);
  if (!made) return nullptr;
  return std::make_unique<PointwiseConv>(shape, places, std::move(made));
}

}  // namespace fxjit::kernels::onednn
