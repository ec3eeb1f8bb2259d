// Choosing and filling: where, masked_fill, full_like and its relatives.
#include "fxjit/functions.h"
#include "src/ops/families/elementwise/elementwise.h"
#include "src/ops/families/shared/rounded.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"
#include "src/ops/table/promote.h"
#include "src/tensor/visit.h"

namespace fxjit::ops {
namespace {

// torch still takes bytes for bools here.
bool is_mask(const OpCall& call, size_t i) {
  const DType type = call.tensor(i).dtype();
  return type == DType::boolean || type == DType::u8;
}

Value infer_where(const OpCall& call) {
  if (!is_mask(call, 0))
    runtime_error(
        "where expected condition to be a boolean tensor, but got a tensor "
        "with dtype ",
        torch_type_name(call.tensor(0).dtype()));
  Promotion promotion;
  Dims sizes = call.tensor(0).sizes();
  for (size_t i : {size_t{1}, size_t{2}}) {
    promotion.add(call[i]);
    if (call[i].is_tensor())
      sizes = broadcast_shapes(sizes, call[i].as_tensor().sizes());
  }
  const auto type = promotion.result();
  if (!type) call.fail("input, other: expected tensors or numbers");
  return Tensor::meta(sizes, *type);
}

Scalar where(ScalarBuilder& b, const OpCall& call, Inputs in) {
  const DType type = infer_where(call).as_tensor().dtype();
  return b.select(b.cast(in[0], DType::boolean),
                  as_element(b, call, in, 1, type),
                  as_element(b, call, in, 2, type));
}

// x.where(condition, other) has the operands in another order.
Value where_method(const OpCall& call) {
  return fxjit::where({call[1], call.source}, call[0], call[2]);
}

Value infer_masked_fill(const OpCall& call) {
  if (!is_mask(call, 1))
    runtime_error(
        "masked_fill_ only supports boolean masks, but got mask with dtype ",
        cpp_type_name(call.tensor(1).dtype()));
  const Tensor& self = call.tensor(0);
  if (call[2].is_tensor() && call[2].as_tensor().dim() != 0)
    runtime_error(
        "masked_fill_ only supports a 0-dimensional value tensor, but got "
        "tensor with ",
        call[2].as_tensor().dim(), " dimension(s).");
  const Dims sizes = broadcast_shapes(call.tensor(1).sizes(), self.sizes());
  if (!writes_input(call)) return Tensor::meta(sizes, self.dtype());
  if (!(sizes == self.sizes())) output_mismatch(self.sizes(), sizes);
  return self;
}

Scalar masked_fill(ScalarBuilder& b, const OpCall& call, Inputs in) {
  return b.select(b.cast(in[1], DType::boolean),
                  as_element(b, call, in, 2, call.tensor(0).dtype()), in[0]);
}

// Result of the "_like" family; `dtype` is the parameter's index.
Value infer_like(const OpCall& call, size_t dtype) {
  const Tensor& self = call.tensor(0);
  return Tensor::meta(self.sizes(),
                      call.has(dtype) ? call[dtype].as_dtype() : self.dtype());
}

Value infer_full_like(const OpCall& call) { return infer_like(call, 2); }
Value infer_zeros_like(const OpCall& call) { return infer_like(call, 1); }

Scalar full_like(ScalarBuilder& b, const OpCall& call, Inputs in) {
  return as_element(b, call, in, 1, infer_full_like(call).as_tensor().dtype());
}

template <int kValue>
Scalar constant_like(ScalarBuilder& b, const OpCall& call, Inputs) {
  const DType type = compute_dtype(infer_zeros_like(call).as_tensor().dtype());
  return b.constant_int(kValue, type);
}

// In-place writers keep their first argument's shape and type.
Value infer_written(const OpCall& call) {
  const Tensor& self = call.tensor(0);
  if (call.args.size() < 2 || !call[1].is_tensor()) return self;
  const Dims sizes =
      broadcast_shapes(self.sizes(), call[1].as_tensor().sizes());
  if (!(sizes == self.sizes())) output_mismatch(self.sizes(), sizes);
  return self;
}

Scalar written(ScalarBuilder& b, const OpCall& call, Inputs in) {
  return as_element(b, call, in, 1, call.tensor(0).dtype());
}

Scalar zeroed(ScalarBuilder& b, const OpCall&, Inputs in) {
  return b.constant_int(0, in[0].type());
}

constexpr OpRow kMaskedFill =
    custom_row("masked_fill", "input, mask, value",
               "torch.masked_fill .masked_fill", infer_masked_fill, masked_fill)
        .stating({.layout = Layout::plain, .numbers = {"value"}});

constexpr OpRow kSelectionRows[] = {
    custom_row("where", "condition, input, other", "torch.where", infer_where,
               where)
        .stating({.numbers = {"input other", Conversion::cast}}),
    composed_row("where_method", "input, condition, other", ".where",
                 where_method)
        .stating({.numbers = {"input other", Conversion::cast}}),
    kMaskedFill,
    custom_row("full_like",
               "input, fill_value, *, dtype=None, layout=None, device=None, "
               "requires_grad=False, pin_memory=None, memory_format=None",
               "torch.full_like", infer_full_like, full_like)
        .stating({.numbers = {"fill_value"}}),
    custom_row("zeros_like",
               "input, *, dtype=None, layout=None, device=None, "
               "requires_grad=False, pin_memory=None, memory_format=None",
               "torch.zeros_like torch.empty_like", infer_zeros_like,
               constant_like<0>),
    custom_row("ones_like",
               "input, *, dtype=None, layout=None, device=None, "
               "requires_grad=False, pin_memory=None, memory_format=None",
               "torch.ones_like", infer_zeros_like, constant_like<1>),
    in_place(kMaskedFill, "masked_fill_", ".masked_fill_")
        .stating({.overlap = Overlap::beside, .numbers = {"value"}}),
    custom_row("copy_", "input, other, non_blocking=False", ".copy_",
               infer_written, written, Purity::mutates)
        .stating({.pure = "copy"}),
    custom_row("fill_", "input, value", "torch.fill_ .fill_", infer_written,
               written, Purity::mutates)
        .stating({.overlap = Overlap::ignored,
                  .numbers = {"value"},
                  .pure = "full_like"}),
    custom_row("zero_", "input", "torch.zero_ .zero_", infer_written, zeroed,
               Purity::mutates)
        .stating({.overlap = Overlap::ignored, .pure = "zeros_like"}),
};

}  // namespace

std::span<const OpRow> selection_rows() { return kSelectionRows; }

}  // namespace fxjit::ops
