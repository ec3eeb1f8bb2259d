// Complex tensors as views of their parts, and what is made of parts.
#include "src/ops/eager/complex_calls.h"
#include "src/ops/families/complex/complex_parts.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"
#include "src/ops/table/op_call.h"
#include "src/tensor/memory_order.h"

namespace fxjit::ops {
namespace {

// The real (0) or imaginary (1) parts.
Tensor part_of(const Tensor& input, int64_t part) {
  return Tensor::meta(input.sizes(), part_type(input.dtype()),
                      strides_of_parts(input), 2 * input.offset() + part);
}

Value infer_real(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  return is_complex(input.dtype()) ? part_of(input, 0) : as_meta(input);
}

Value infer_imag(const OpCall& call) {
  if (!is_complex(call.tensor(0).dtype()))
    runtime_error(
        "imag is not implemented for tensors with non-complex dtypes.");
  return part_of(call.tensor(0), 1);
}

Value infer_view_as_real(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  if (!is_complex(input.dtype()))
    runtime_error("view_as_real is only supported for complex tensors");
  Dims sizes = input.sizes(), strides = strides_of_parts(input);
  sizes.push_back(2);
  strides.push_back(1);
  return Tensor::meta(sizes, part_type(input.dtype()), strides,
                      2 * input.offset());
}

void check_pairs(const Tensor& input) {
  if (input.dtype() == DType::f16)
    throw NotImplementedError("view_as_complex: complex32 is not supported");
  if (input.dtype() != DType::f32 && input.dtype() != DType::f64)
    runtime_error(
        "view_as_complex is only supported for half, float and double tensors, "
        "but got a tensor of scalar type: ",
        torch_type_name(input.dtype()));
  if (input.dim() == 0)
    runtime_error("Input tensor must have one or more dimensions");
  if (input.size(-1) != 2)
    runtime_error("Tensor must have a last dimension of size 2");
  if (input.stride(-1) != 1)
    runtime_error("Tensor must have a last dimension with stride 1");
  if (input.offset() % 2 != 0)
    runtime_error("Tensor must have a storage_offset divisible by 2");
  if (!holds_pairs(input))
    runtime_error(
        "Tensor must have a stride divisible by 2 for all but last dimension");
}

Value infer_view_as_complex(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  check_pairs(input);
  Dims sizes, strides;
  for (int d = 0; d + 1 < input.dim(); ++d) {
    sizes.push_back(input.sizes()[d]);
    strides.push_back(input.strides()[d] / 2);
  }
  return Tensor::meta(sizes,
                      input.dtype() == DType::f64 ? DType::c128 : DType::c64,
                      strides, input.offset() / 2);
}

void check_parts(const Tensor& a, const Tensor& b) {
  const auto plain = [](DType dtype) {
    return dtype == DType::f32 || dtype == DType::f64;
  };
  if (!plain(a.dtype()) || !plain(b.dtype()))
    runtime_error(
        "Expected both inputs to be Half, Float or Double tensors but got ",
        torch_type_name(a.dtype()), " and ", torch_type_name(b.dtype()));
  if (a.dtype() != b.dtype())
    runtime_error("Expected object of scalar type ", torch_type_name(a.dtype()),
                  " but got scalar type ", torch_type_name(b.dtype()),
                  " for second argument");
}

Value complex(const OpCall& call) {
  check_parts(meta_of(call[0]), meta_of(call[1]));
  const Dims sizes =
      broadcast_shapes(meta_of(call[0]).sizes(), meta_of(call[1]).sizes());
  return complex_of(fxjit::expand(call[0], sizes),
                    fxjit::expand(call[1], sizes));
}

// (abs, angle).
Value polar(const OpCall& call) {
  check_parts(meta_of(call[0]), meta_of(call[1]));
  return complex_of(call[0] * fxjit::cos(call[1]),
                    call[0] * fxjit::sin(call[1]));
}

constexpr OpRow kComplexViewsRows[] = {
    view_row("real", "input", "torch.real", infer_real),
    view_row("imag", "input", "torch.imag", infer_imag),
    view_row("view_as_real", "input", "torch.view_as_real", infer_view_as_real),
    view_row("view_as_complex", "input", "torch.view_as_complex",
             infer_view_as_complex),
    composed_row("complex", "real, imag", "torch.complex", complex)
        .stating({.layout = Layout::elementwise}),
    composed_row("polar", "abs, angle", "torch.polar", polar)
        .stating({.layout = Layout::elementwise}),
};

}  // namespace

std::span<const OpRow> complex_view_rows() { return kComplexViewsRows; }

}  // namespace fxjit::ops
