// Questions about a tensor that are answered by its shape and type: plain
// Values, or for T and its kin a view.
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"
#include "src/ops/table/memory_format.h"
#include "src/ops/table/op_call.h"

namespace fxjit::ops {
namespace {

Value shape_value(const Dims& sizes) {
  return Value::tuple(ValueList(sizes.begin(), sizes.end()));
}

Value infer_size(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  if (!call.has(1)) return shape_value(input.sizes());
  const int axis = dim_arg(call, 1, input.dim());
  if (input.dim() == 0)
    throw IndexError(concat("Dimension specified as ", call.integer(1),
                            " but tensor has no dimensions"));
  return input.sizes()[axis];
}

Value infer_stride(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  if (!call.has(1)) return shape_value(input.strides());
  return input.stride(call.integer(1));
}

Value infer_dim(const OpCall& call) { return call.tensor(0).dim(); }
Value infer_numel(const OpCall& call) { return call.tensor(0).numel(); }
Value infer_is_floating(const OpCall& call) {
  return is_floating(call.tensor(0).dtype());
}

Value infer_is_complex(const OpCall& call) {
  return is_complex(call.tensor(0).dtype());
}
Value infer_is_signed(const OpCall& call) {
  const DType dtype = call.tensor(0).dtype();
  return dtype != DType::u8 && dtype != DType::boolean;
}
Value infer_element_size(const OpCall& call) {
  return static_cast<int64_t>(call.tensor(0).item_size());
}
Value infer_is_same_size(const OpCall& call) {
  return call.tensor(0).sizes() == call.tensor(1).sizes();
}

Value infer_is_contiguous(const OpCall& call) {
  const MemoryFormat asked = memory_format_of(call, MemoryFormat::contiguous);
  if (asked == MemoryFormat::preserve)
    runtime_error("preserve memory format is unsupported by is_contiguous");
  return is_in_format(call.tensor(0), asked);
}

// The tensor itself: its memory cannot grow here.
Value infer_resize(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  if (call.dims(1) != input.sizes())
    throw NotImplementedError(
        "resize_: expected the size that the tensor has, " +
        input.sizes().str() + ", got " + call.dims(1).str());
  return as_meta(input);
}

// T reverses all dims, mT swaps the last two.
Value reversed(const Tensor& input) {
  Dims order;
  for (int d = input.dim() - 1; d >= 0; --d) order.push_back(d);
  return permuted(as_meta(input), order);
}

Value matrix_transposed(const Tensor& input) {
  if (input.dim() == 0) return as_meta(input);
  if (input.dim() < 2)
    runtime_error(
        "tensor.mT is only supported on matrices or batches of matrices. Got ",
        input.dim(), "-D tensor.");
  const int rank = input.dim();
  return permuted(as_meta(input),
                  joined(dims_between(0, rank - 2), {rank - 1, rank - 2}));
}

// What stands in for an attribute that is not there. None may be given, so that
// a text tells that nothing was. A tensor would be no view of the first
// argument.
Value default_attribute(const OpCall& call, std::string_view type) {
  const Value& given = call[2];
  if (given.is_tensor())
    throw NotImplementedError("getattr: expected a default that is no tensor");
  if (!same(given, "no default")) return given;
  throw AttributeError("'" + std::string(type) + "' object has no attribute '" +
                       std::string(call[1].as_string()) + "'");
}

Value infer_getattr(const OpCall& call) {
  const std::string_view name = call[1].as_string();
  if (!call[0].is_tensor()) return default_attribute(call, call[0].kind_name());
  const Tensor& input = call.tensor(0);
  if (name == "shape") return shape_value(input.sizes());
  if (name == "dtype") return input.dtype();
  if (name == "ndim") return input.dim();
  if (name == "device") return "cpu";
  if (name == "T") return reversed(input);
  if (name == "mT") return matrix_transposed(input);
  if (name == "data") return as_meta(input);
  if (name == "real" || name == "imag")
    return infer({get_op(name), call.args.first(1), call.source, call.node});
  if (name == "requires_grad" || name == "is_cuda") return false;
  if (name == "itemsize") return static_cast<int64_t>(input.item_size());
  return default_attribute(call, "Tensor");
}

constexpr OpRow kViewsMetadataRows[] = {
    view_row("size", "input, dim=None", ".size", infer_size)
        .stating({.aliasing = Aliasing::never, .of_sizes = true}),
    view_row("stride", "input, dim=None", ".stride", infer_stride)
        .stating({.aliasing = Aliasing::never}),
    view_row("dim", "input", ".dim .ndimension", infer_dim)
        .stating({.aliasing = Aliasing::never, .of_sizes = true}),
    view_row("numel", "input", "torch.numel .numel .nelement", infer_numel)
        .stating({.aliasing = Aliasing::never, .of_sizes = true}),
    view_row("is_floating_point", "input",
             "torch.is_floating_point .is_floating_point", infer_is_floating)
        .stating({.aliasing = Aliasing::never}),
    view_row("is_complex", "input", "torch.is_complex .is_complex",
             infer_is_complex)
        .stating({.aliasing = Aliasing::never}),
    view_row("is_signed", "input", "torch.is_signed .is_signed",
             infer_is_signed)
        .stating({.aliasing = Aliasing::never}),
    view_row("element_size", "input", ".element_size", infer_element_size)
        .stating({.aliasing = Aliasing::never}),
    view_row("is_same_size", "input, other", "torch.is_same_size .is_same_size",
             infer_is_same_size)
        .stating({.aliasing = Aliasing::never}),
    view_row("is_contiguous", "input, memory_format=None", ".is_contiguous",
             infer_is_contiguous)
        .stating({.aliasing = Aliasing::never}),
    view_row("resize_", "input, size", "", infer_resize)
        .stating({.overlap = Overlap::ignored}),
    view_row("getattr", "object, name, default='no default'",
             "builtins.getattr", infer_getattr),
};

}  // namespace

std::span<const OpRow> metadata_rows() { return kViewsMetadataRows; }

}  // namespace fxjit::ops
