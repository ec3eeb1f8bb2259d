// Ops that ONNX has dropped; files of its first opsets still hold them.
#include <limits>

#include "src/import/onnx/ops/families.h"

namespace fxjit::onnx {
namespace {

Results affine(Call& call) {
  return call[0] * call.real("alpha", 1) + call.real("beta", 0);
}

Results scale(Call& call) { return call[0] * call.real("scale", 1); }

Results parametric_softplus(Call& call) {
  return nn::functional::softplus(call[0] * call.real("beta", 1)) *
         call.real("alpha", 1);
}

Results scaled_tanh(Call& call) {
  return tanh(call[0] * call.real("beta", 1)) * call.real("alpha", 1);
}

// A number is added to each channel.
Results image_scaler(Call& call) {
  const Value scaled = call[0] * call.real("scale", 1);
  const auto bias = call.reals("bias");
  if (!bias) return scaled;
  const Tensor numbers =
      Tensor::empty({static_cast<int64_t>(bias->size())}, DType::f64);
  std::copy(bias->begin(), bias->end(), numbers.data_as<double>());
  const Value constant =
      call.recorder().constant(numbers.to(call.dtype(0)), "bias");
  return scaled + along(call, constant, 1, call.rank(0));
}

// A part of each plane, without a border or of a size.
Results crop(Call& call) {
  const auto border = call.integers("border");
  if (!border || border->size() != 4)
    call.fail("attribute border: expected 4 numbers");
  const auto size = call.integers("scale");
  if (size && size->size() != 2)
    call.fail("attribute scale: expected 2 numbers");
  if (call.rank(0) != 4) call.fail("expected four dims");
  Value y = call[0];
  for (const size_t d : {0, 1}) {
    const auto dim = static_cast<int64_t>(d) + 2;
    const int64_t first = (*border)[1 - d], behind = (*border)[3 - d];
    const Value count =
        size ? Value((*size)[d]) : call.size(0, dim) - (first + behind);
    y = narrow(y, dim, first, count);
  }
  return y;
}

constexpr OpRow kRetiredOps[] = {
    {.op = "Affine", .run = affine},
    {.op = "Crop", .run = crop},
    {.op = "ImageScaler", .run = image_scaler},
    {.op = "ParametricSoftplus", .run = parametric_softplus},
    {.op = "Scale", .run = scale},
    {.op = "ScaledTanh", .run = scaled_tanh},
};

}  // namespace

std::span<const OpRow> retired_rows() { return kRetiredOps; }

}  // namespace fxjit::onnx
