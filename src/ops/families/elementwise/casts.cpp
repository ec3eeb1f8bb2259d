// Casts and copies. Everything that converts becomes `cast`; what keeps the
// elements as they are is a view or a copy of its input.
#include "fxjit/functions.h"
#include "fxjit/proxy_base.h"
#include "src/ops/families/elementwise/elementwise.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"
#include "src/ops/table/memory_format.h"
#include "src/ops/table/op_call.h"
#include "src/tensor/memory_order.h"

namespace fxjit::ops {
namespace {

Value infer_cast(const OpCall& call) {
  return Tensor::meta(call.tensor(0).sizes(), call[1].as_dtype());
}

// A copy even of the same type, as convert_element_type gives.
Value run_cast(const OpCall& call) {
  const Tensor& self = call.tensor(0);
  const DType dtype = call[1].as_dtype();
  return self.dtype() == dtype ? self.clone() : self.to(dtype);
}

// A new tensor in the memory format that the call asks for.
Value copied(const OpCall& call, DType dtype) {
  const Value made = call_function(
      get_function("torch.ops.prims.convert_element_type.default"),
      {call[0], dtype}, {}, call.source);
  if (memory_format_of(call, MemoryFormat::preserve) == MemoryFormat::preserve)
    return made;
  const auto at = static_cast<size_t>(call.op.index_of("memory_format"));
  return call_method("contiguous", {made, call[at]}, {}, call.source);
}

// The tensor itself when it has the type and the format already, as Tensor.to.
Value cast_call(const OpCall& call, DType dtype) {
  const Tensor self = meta_of(call[0]);
  const MemoryFormat asked = memory_format_of(call, MemoryFormat::preserve);
  const bool lies_so =
      asked == MemoryFormat::preserve || asked == suggested_format(self);
  return self.dtype() == dtype && lies_so ? call[0] : copied(call, dtype);
}

template <DType kType>
Value cast_method(const OpCall& call) {
  return cast_call(call, kType);
}

// Dtype among the positional arguments of Tensor.to, from a dtype or from
// another tensor; none when only the device is named.
Value target_dtype(const OpCall& call) {
  if (call.has(2)) return call[2];
  for (const Value& target : call[1].as_sequence()) {
    if (target.is_dtype()) return target;
    if (target.is_tensor()) return target.as_tensor().dtype();
    if (!target.is_proxy()) continue;
    const Value known = target.as_proxy()->val();
    if (known.is_tensor()) return known.as_tensor().dtype();
  }
  return None;
}

Value to(const OpCall& call) {
  check_device(call, call[3]);
  for (const Value& target : call[1].as_sequence()) check_device(call, target);
  const Value target = target_dtype(call), copy = call[5];
  const DType dtype =
      target.is_none() ? meta_of(call[0]).dtype() : target.as_dtype();
  return copy.is_bool() && copy.as_bool() ? copied(call, dtype)
                                          : cast_call(call, dtype);
}

Value to_copy(const OpCall& call) {
  check_device(call, call[3]);
  return copied(call, dtype_arg(call, 1, meta_of(call[0]).dtype()));
}

Value type_as(const OpCall& call) {
  return cast_call(call, call.tensor(1).dtype());
}

Value infer_alias(const OpCall& call) { return as_meta(call.tensor(0)); }

MemoryFormat contiguous_format(const OpCall& call) {
  const MemoryFormat asked = memory_format_of(call, MemoryFormat::contiguous);
  if (asked == MemoryFormat::preserve)
    runtime_error(
        "preserve memory format is unsupported by the contiguous operator");
  return asked;
}

Value infer_contiguous(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  const MemoryFormat asked = contiguous_format(call);
  const Dims strides = strides_in_format(input.sizes(), asked);
  return is_in_format(input, asked)
             ? infer_alias(call)
             : Tensor::meta(input.sizes(), input.dtype(), strides);
}

Value run_contiguous(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  const MemoryFormat asked = contiguous_format(call);
  const Dims strides = strides_in_format(input.sizes(), asked);
  return is_in_format(input, asked) ? input : copy_in_layout(input, strides);
}

constexpr OpRow cast_row(const char* name, const char* names,
                         DecomposeFn decompose) {
  return composed_row(name, "input, memory_format=None", names, decompose)
      .stating({.aliasing = Aliasing::same_type});
}

constexpr OpRow kCastsRows[] = {
    {.name = "cast",
     .schema = "input, dtype",
     .names = "torch.ops.prims.convert_element_type.default",
     .lowering = Lowering::scalar,
     .infer = infer_cast,
     .eager = run_cast,
     .scalar = identity,
     .scalar_types = ScalarTypes::custom,
     .facts = {.layout = Layout::first, .rounds = true}},
    composed_row("to",
                 "input, *target, dtype=None, device=None, non_blocking=False, "
                 "copy=False, memory_format=None, layout=None, pin_memory=None",
                 ".to", to)
        .stating({.aliasing = Aliasing::same_type, .sizes = {SizeKind::same}}),
    composed_row("_to_copy",
                 "input, *, dtype=None, layout=None, device=None, "
                 "pin_memory=None, non_blocking=False, memory_format=None",
                 "", to_copy),
    composed_row("type_as", "input, other", ".type_as", type_as)
        .stating({.aliasing = Aliasing::same_type}),
    cast_row("float", ".float", cast_method<DType::f32>),
    cast_row("double", ".double", cast_method<DType::f64>),
    cast_row("half", ".half", cast_method<DType::f16>),
    cast_row("bfloat16", ".bfloat16", cast_method<DType::bf16>),
    cast_row("char", ".char", cast_method<DType::i8>),
    cast_row("byte", ".byte", cast_method<DType::u8>),
    cast_row("short", ".short", cast_method<DType::i16>),
    cast_row("int", ".int", cast_method<DType::i32>),
    cast_row("long", ".long", cast_method<DType::i64>),
    cast_row("bool", ".bool", cast_method<DType::boolean>),
    {.name = "clone",
     .schema = "input, *, memory_format=None",
     .names = "torch.clone .clone",
     .lowering = Lowering::scalar,
     .infer = infer_like_first,
     .scalar = identity,
     .facts = {.layout = Layout::first}},
    lowered_row("contiguous", "input, memory_format=None", ".contiguous",
                Lowering::reshape, infer_contiguous, run_contiguous)
        .stating({.aliasing = Aliasing::format}),
    view_row("detach", "input", "torch.detach .detach nn.Identity",
             infer_alias),
};

}  // namespace

std::span<const OpRow> cast_rows() { return kCastsRows; }

}  // namespace fxjit::ops
