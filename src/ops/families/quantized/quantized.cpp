// Quantised tensors: integers with a scale and a zero point, and their
// products. Programs of other frameworks are read into these calls, which
// passes see whole. Scales and zero points broadcast over the integers.
#include "src/ops/families/elementwise/elementwise.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

// The integers less their zero point.
Value centred(const OpCall& call, size_t input, size_t zero) {
  const Value wide = cast_to(call[input], DType::i32);
  return call.has(zero) ? wide - cast_to(call[zero], DType::i32) : wide;
}

Value decompose_integer_matmul(const OpCall& call) {
  return fxjit::matmul(centred(call, 0, 2), centred(call, 1, 3));
}

// Sums of products of 8 bits are whole in double precision.
Value decompose_integer_conv(const OpCall& call) {
  Dims pads;
  const Dims before = call.dims(3), after = call.dims(4);
  for (int i = before.size() - 1; i >= 0; --i) {
    pads.push_back(before[i]);
    pads.push_back(after[i]);
  }
  const Value x = cast_to(centred(call, 0, 7), DType::f64);
  const Value w = cast_to(centred(call, 1, 8), DType::f64);
  const Dims none(before.size(), 0);
  const Value sums =
      cast_to(call_row("convolution",
                       {call_row("constant_pad_nd", {x, pads, 0.0}), w, None,
                        call[2], none, call[5], false, none, call[6]}),
              DType::i32);
  return call.has(9) ? cast_to(sums, call[9].as_dtype()) : sums;
}

Value decompose_weight_product(const OpCall& call) {
  const Value w = cast_to(call[1], DType::f32);
  return fxjit::matmul(call[0],
                       call.has(2) ? w - cast_to(call[2], DType::f32) : w);
}

// Codes of `bits` bits along the last dim, the first of a byte in its lowest
// bits, as numbers of their own.
Value unpacked_codes(const Value& codes, int64_t bits, bool has_sign) {
  if (bits == 8) return codes;
  ValueList parts;
  for (int64_t shift = 0; shift < 8; shift += bits)
    parts.push_back(fxjit::bitwise_and(fxjit::bitwise_right_shift(codes, shift),
                                       (int64_t{1} << bits) - 1));
  const Value numbers =
      fxjit::flatten(fxjit::stack(Value::list(std::move(parts)), -1), -2, -1);
  const int64_t sign = int64_t{1} << (bits - 1);
  return has_sign ? fxjit::bitwise_xor(numbers, sign) - sign : numbers;
}

// The matrix [depth, columns] is made anew in each call.
Value decompose_blocked_product(const OpCall& call) {
  const int64_t block = call.integer(4);
  const bool by_column = call[6].as_bool();
  const Value depth = call.tensor(0).size(-1);
  Value real = cast_to(unpacked_codes(call[1], call.integer(5),
                                      call.tensor(1).dtype() == DType::i8),
                       DType::f32);
  real = by_column ? fxjit::transpose(fxjit::narrow(real, 1, 0, depth), 0, 1)
                   : fxjit::narrow(real, 1, 0, Value(call.tensor(2).size(1)));
  const auto of_rows = [&](size_t parameter) {
    const Value wide = cast_to(call[parameter], DType::f32);
    if (call.tensor(parameter).size(0) == 1) return wide;
    return fxjit::narrow(fxjit::repeat_interleave(wide, block, 0), 0, 0, depth);
  };
  if (call.has(3)) real = real - of_rows(3);
  return fxjit::matmul(call[0], real * of_rows(2));
}

Value infer_dequantize(const OpCall& call) {
  return Tensor::meta(call.tensor(0).sizes(), DType::f32);
}

Scalar dequantize(ScalarBuilder& b, const OpCall& call, Inputs in) {
  const ScalarArgs args(b, call, in);
  Scalar x = args.get(0, DType::f32);
  if (call.has(2)) x = x - args.get(2, DType::f32);
  return x * args.get(1, DType::f32);
}

constexpr size_t kLow = 3, kHigh = 4, kQuantizedType = 5, kInverse = 6;

Value infer_quantize(const OpCall& call) {
  return Tensor::meta(call.tensor(0).sizes(), call[kQuantizedType].as_dtype());
}

// A quotient rounded half to even, as ONNX says; a product where the call has
// the reciprocal of the scale as well, as PyTorch's quantised programs do.
// The bounds are written so that NaN becomes the least number, as in ONNX
// Runtime, and that bodies see it (fits_type).
Scalar quantize(ScalarBuilder& b, const OpCall& call, Inputs in) {
  const ScalarArgs args(b, call, in);
  const Scalar real = args.get(0, DType::f32);
  Scalar x = b.apply(Prim::round, call.has(kInverse)
                                      ? real * args.get(kInverse, DType::f32)
                                      : real / args.get(1, DType::f32));
  if (call.has(2)) x = x + args.get(2, DType::f32);
  const Scalar low = b.constant(call.number(kLow), DType::f32);
  const Scalar high = b.constant(call.number(kHigh), DType::f32);
  x = b.select(b.apply(Prim::gt, x, low), x, low);
  x = b.select(b.apply(Prim::lt, x, high), x, high);
  return b.cast(x, call[kQuantizedType].as_dtype());
}

// Scales and zero points of torch.ao's programs, which are numbers, tensors of
// one element or, with a dim, tensors of one for each of its places.
Value real_parameter(const OpCall& call, size_t argument) {
  return call[argument].is_tensor() || call[argument].is_proxy()
             ? cast_to(call[argument], DType::f32)
             : fxjit::full(Value::list({}), call.number(argument), DType::f32);
}

Value reciprocal_of(const OpCall& call, size_t argument) {
  if (call[argument].is_tensor() || call[argument].is_proxy())
    return cast_to(1.0 / cast_to(call[argument], DType::f64), DType::f32);
  return fxjit::full(Value::list({}), 1.0 / call.number(argument), DType::f32);
}

Value zero_parameter(const OpCall& call, size_t argument) {
  if (!call.has(argument)) return None;
  if (call[argument].is_tensor() || call[argument].is_proxy())
    return cast_to(call[argument], DType::i32);
  if (call.number(argument) == 0) return None;
  return fxjit::full(Value::list({}), call[argument], DType::i32);
}

// As it broadcasts over the places of a dim of the input.
Value along_dim(const OpCall& call, const Value& parameter, int64_t axis) {
  if (parameter.is_none()) return parameter;
  Dims sizes = call.tensor(0).sizes();
  const int at = wrap_dim(axis, sizes.size());
  for (int i = 0; i < sizes.size(); ++i) sizes[i] = i == at ? -1 : 1;
  return fxjit::reshape(parameter, Value(sizes));
}

Value quantize_with(const OpCall& call, const Value& scale,
                    const Value& inverse, const Value& zero, size_t least) {
  return call_row("fxjit.quantize",
                  {call[0], scale, zero, call[least], call[least + 1],
                   call[least + 2], inverse});
}

Value dequantize_with(const OpCall& call, const Value& scale, const Value& zero,
                      size_t out_dtype) {
  const Value real = call_row("fxjit.dequantize", {call[0], scale, zero});
  return call.has(out_dtype) ? cast_to(real, call[out_dtype].as_dtype()) : real;
}

Value decompose_quantize_tensor(const OpCall& call) {
  return quantize_with(call, real_parameter(call, 1), reciprocal_of(call, 1),
                       zero_parameter(call, 2), 3);
}

Value decompose_dequantize_tensor(const OpCall& call) {
  return dequantize_with(call, real_parameter(call, 1), zero_parameter(call, 2),
                         6);
}

Value decompose_quantize_channels(const OpCall& call) {
  const int64_t axis = call.integer(3);
  return quantize_with(call, along_dim(call, real_parameter(call, 1), axis),
                       along_dim(call, reciprocal_of(call, 1), axis),
                       along_dim(call, zero_parameter(call, 2), axis), 4);
}

Value decompose_dequantize_channels(const OpCall& call) {
  const int64_t axis = call.integer(3);
  return dequantize_with(call, along_dim(call, real_parameter(call, 1), axis),
                         along_dim(call, zero_parameter(call, 2), axis), 7);
}

Value infer_lookup(const OpCall& call) {
  return Tensor::meta(call.tensor(2).sizes(), call.tensor(0).dtype());
}

Value eager_lookup(const OpCall& call) {
  return call_row("gather", {call[0], call[1], cast_to(call[2], DType::i64)});
}

constexpr OpRow kQuantizedRows[] = {
    // Integers of 8 bits less their zero points, with sums of 32 bits.
    composed_row("fxjit.integer_matmul",
                 "input, other, input_zero=None, other_zero=None",
                 "fxjit.integer_matmul", decompose_integer_matmul),
    composed_row("fxjit.integer_conv",
                 "input, weight, stride, pad_before, pad_after, dilation, "
                 "groups, input_zero=None, weight_zero=None, dtype=None",
                 "fxjit.integer_conv", decompose_integer_conv),
    // f32 times a matrix of 8 bits less its zero points.
    composed_row("fxjit.weight_product", "input, weight, zero_point=None",
                 "fxjit.weight_product", decompose_weight_product),
    // f32 times a matrix of codes, (code - zero) * scale. Codes are u8 or i8,
    // of `bits` bits packed along their rows, which are columns of the matrix
    // or, unless `by_column`, rows. Scales and zero points, u8 or i8, are
    // [blocks, columns] with `block` rows of the matrix in a block; a zero point
    // may be [1, 1].
    composed_row("fxjit.blocked_product",
                 "input, codes, scale, zero_point, block, bits, by_column",
                 "fxjit.blocked_product", decompose_blocked_product),
    custom_row("fxjit.dequantize", "input, scale, zero_point=None",
               "fxjit.dequantize", infer_dequantize, dequantize)
        .stating({.widens = true}),
    custom_row("fxjit.quantize",
               "input, scale, zero_point, low, high, dtype, inverse=None",
               "fxjit.quantize", infer_quantize, quantize),
    // Those of torch.ao's exported programs (pt2e), of which the overloads with
    // tensors take the same arguments.
    inlined_row("fxjit.quantize_per_tensor",
                "input, scale, zero_point, quant_min, quant_max, dtype",
                "torch.ops.quantized_decomposed.quantize_per_tensor.default "
                "torch.ops.quantized_decomposed.quantize_per_tensor.tensor",
                decompose_quantize_tensor),
    inlined_row("fxjit.dequantize_per_tensor",
                "input, scale, zero_point, quant_min, quant_max, dtype, "
                "out_dtype=None",
                "torch.ops.quantized_decomposed.dequantize_per_tensor.default "
                "torch.ops.quantized_decomposed.dequantize_per_tensor.tensor",
                decompose_dequantize_tensor),
    inlined_row("fxjit.quantize_per_channel",
                "input, scales, zero_points, axis, quant_min, quant_max, dtype",
                "torch.ops.quantized_decomposed.quantize_per_channel.default",
                decompose_quantize_channels),
    inlined_row(
        "fxjit.dequantize_per_channel",
        "input, scales, zero_points, axis, quant_min, quant_max, dtype, "
        "out_dtype=None",
        "torch.ops.quantized_decomposed.dequantize_per_channel.default",
        decompose_dequantize_channels),
    // gather by u8 from a line of 256 elements.
    lowered_row("fxjit.lookup", "input, dim, index", "fxjit.lookup",
                Lowering::gather, infer_lookup, eager_lookup)
        .stating(
            {.gather = {.kind = GatherKind::elements, .index = 2, .dim = 1},
             .native = NativeCalls::elements}),
};

}  // namespace

std::span<const OpRow> quantized_rows() { return kQuantizedRows; }

}  // namespace fxjit::ops
