// Quantised tensors: integers, with a scale and a zero point for all of them,
// for each place of a dim, or for each block along a dim.
#include "src/import/onnx/ops/families.h"
#include "src/import/onnx/ops/quantised_inputs.h"
#include "src/import/onnx/ops/windows.h"
#include "src/import/onnx/tensors.h"

namespace fxjit::onnx {
namespace {

// A scale or zero point as it broadcasts over input 0.
Value over_input(const Call& call, size_t input) {
  const Value parameter = call[input];
  const int rank = call.rank_of(parameter);
  const int64_t block = call.integer("block_size", 0);
  if (rank == 0) return parameter;
  const SizeList sizes = call.sizes_of(parameter);
  if (block == 0 && rank == 1 && sizes[0].is_int() && sizes[0].as_int() == 1)
    return reshape(parameter, Value::list({}));
  const int64_t axis = call.wrap(call.integer("axis", 1), call.rank(0));
  if (block > 0) {
    const Value whole = repeat_interleave(parameter, block, axis);
    return narrow(whole, axis, 0, call.size(0, axis));
  }
  if (rank > 1) call.fail("scale: expected at most one dim");
  const Value over = along(call, parameter, axis, call.rank(0));
  check_count(call, input, call.size(0, axis));
  return over;
}

struct IntegerLimits {
  int64_t low, high;
};

// `bits`: of a type that is narrower or wider than the one that carries it, or
// 0.
IntegerLimits limits_of(const Call& call, DType dtype, int bits) {
  if (bits == 16) return {0, 65535};
  if (bits > 0 && dtype == DType::u8) return {0, (1 << bits) - 1};
  if (bits > 0 && dtype == DType::i8)
    return {-(1 << (bits - 1)), (1 << (bits - 1)) - 1};
  switch (dtype) {
    case DType::u8:
      return {0, 255};
    case DType::i8:
      return {-128, 127};
    case DType::i16:
      return {-32768, 32767};
    default:
      call.fail("the type " + std::string(dtype_name(dtype)) +
                " is not supported");
  }
}

// Rounded real numbers, moved by the zero point and kept within the type.
Value saturated(const Call& call, const Value& rounded, const Value& zero_point,
                DType dtype, int bits = 0) {
  const IntegerLimits limits = limits_of(call, dtype, bits);
  const Value moved = zero_point.is_none()
                          ? rounded
                          : rounded + cast(call, zero_point, DType::f32);
  return cast(call, clamp(moved, limits.low, limits.high), dtype);
}

// What the results have: 16 without a sign, or fewer than 8.
int quantized_bits(const Call& call) {
  if (call.has(2))
    return std::max(call.unsigned_bits(2), packed_bits(call.operand(2).narrow));
  const int64_t stated = call.integer("output_dtype", 0);
  return std::max(unsigned_bits_of(stated),
                  packed_bits(carried_type_of(stated)));
}

DType quantized_type(const Call& call) {
  if (call.has(2)) return call.dtype(2);
  return call.integer("output_dtype", 0) == 0
             ? DType::u8
             : named_type(call, "output_dtype");
}

// Real numbers of f32 become integers that have a type of their own.
bool is_plain_quantize(const Call& call) {
  const bool named = call.integer("precision", 0) != 0;
  return !named && quantized_bits(call) < 16 && call.dtype(0) == DType::f32 &&
         call.dtype(1) == DType::f32;
}

Results quantize(Call& call) {
  // Integers may be divided by integers.
  if (call.dtype(1) != call.dtype(0)) check_scale(call, 1);
  if (is_plain_quantize(call)) {
    const DType dtype = quantized_type(call);
    const IntegerLimits limits = limits_of(call, dtype, quantized_bits(call));
    return function("fxjit.quantize",
                    {call[0], over_input(call, 1),
                     call.has(2) ? over_input(call, 2) : Value(), limits.low,
                     limits.high, dtype});
  }
  const DType precision = call.integer("precision", 0) == 0
                              ? DType::f32
                              : named_type(call, "precision");
  const Value scale = cast(call, over_input(call, 1), precision);
  const Value x = cast(call, call[0], precision);
  const Value zero_point = call.has(2) ? over_input(call, 2) : Value();
  return saturated(call, cast(call, round(x / scale), DType::f32), zero_point,
                   quantized_type(call), quantized_bits(call));
}

// Whole blocks along a dim, which is split by them so that their numbers
// broadcast; none where blocks are not whole or sizes unknown.
std::optional<Value> dequantised_blocks(const Call& call) {
  const int64_t block = call.integer("block_size", 0);
  if (block <= 0 || call.rank(1) != call.rank(0)) return std::nullopt;
  const int64_t axis = call.wrap(call.integer("axis", 1), call.rank(0));
  ValueList sizes;
  for (const Value& size : call.sizes(0)) {
    if (!size.is_int()) return std::nullopt;
    sizes.push_back(size);
  }
  const int64_t length = sizes[static_cast<size_t>(axis)].as_int();
  if (length % block != 0) return std::nullopt;
  const Value whole = Value::list(sizes);
  sizes[static_cast<size_t>(axis)] = length / block;
  sizes.insert(sizes.begin() + axis + 1, block);
  const Value numbers = function(
      "fxjit.dequantize",
      {reshape(call[0], Value::list(sizes)), unsqueeze(call[1], axis + 1),
       call.has(2) ? unsqueeze(call[2], axis + 1) : Value()});
  return reshape(numbers, whole);
}

Results dequantize(Call& call) {
  check_scale(call, 1);
  check_zero_point(call, 2, call.dtype(0));
  const bool plain = call.dtype(1) == DType::f32 &&
                     call.integer("output_dtype", 0) == 0 &&
                     call.unsigned_bits(0) == 0;
  if (plain)
    if (const auto made = dequantised_blocks(call)) return *made;
  const Value scale = over_input(call, 1);
  if (plain)
    return function(
        "fxjit.dequantize",
        {call[0], scale, call.has(2) ? over_input(call, 2) : Value()});
  Value x = cast(call, call[0], DType::f32);
  if (call.has(2)) x = x - cast(call, over_input(call, 2), DType::f32);
  const auto named = find_dtype(call.integer("output_dtype", 0));
  return cast(call, x * cast(call, scale, DType::f32),
              named.value_or(call.dtype(1)));
}

Results dynamic_quantize(Call& call) {
  const Value x = call[0];
  const Value high = clamp(amax(x), 0.0);
  const Value low = clamp(amin(x), None, 0.0);
  const Value span = high - low;
  const Value scale = where(span == 0, ones_like(span), span) / 255.0;
  const Value place = round(clamp(-low / scale, 0.0, 255.0));
  const Value y = round(x / scale) + place;
  return std::vector<Operand>{cast(call, clamp(y, 0, 255), DType::u8), scale,
                              cast(call, place, DType::u8)};
}

// The integers without their zero point. A zero point with one dim stands for
// the places of `dim`.
Value centred(const Call& call, size_t input, size_t zero_point, int64_t dim,
              DType dtype) {
  const Value x = cast(call, call[input], dtype);
  if (!call.has(zero_point)) return x;
  Value zero = cast(call, call[zero_point], dtype);
  if (call.rank(zero_point) == 1) {
    const SizeList sizes = call.sizes(zero_point);
    const int rank = call.rank(input);
    zero = sizes[0].is_int() && sizes[0].as_int() == 1
               ? reshape(zero, Value::list({1}))
               : along(call, zero, call.wrap(dim, rank), rank);
  }
  return x - zero;
}

// A zero point as it broadcasts over the input: one with one dim stands for the
// places of `dim`.
Value zero_over(const Call& call, size_t input, size_t zero_point,
                int64_t dim) {
  if (!call.has(zero_point)) return {};
  check_zero_point(call, zero_point, call.dtype(input));
  const Value zero = call[zero_point];
  if (call.rank(zero_point) != 1) return zero;
  const SizeList sizes = call.sizes(zero_point);
  const int rank = call.rank(input);
  if (-dim <= rank) check_count(call, zero_point, call.size(input, dim));
  return sizes[0].is_int() && sizes[0].as_int() == 1
             ? reshape(zero, Value::list({}))
             : along(call, zero, call.wrap(dim, rank), rank);
}

// Sums of an input 0 or one behind it and the input behind its own scale, if
// any: `b` is the second factor's place, zero points stand behind both.
Value product_sums(const Call& call, size_t b, size_t a_zero, size_t b_zero) {
  return function("fxjit.integer_matmul",
                  {call[0], call[b], zero_over(call, 0, a_zero, -2),
                   zero_over(call, b, b_zero, -1)});
}

Results matmul_integer(Call& call) { return product_sums(call, 1, 2, 3); }

std::optional<std::vector<int64_t>> known(const std::vector<Value>& sizes) {
  std::vector<int64_t> numbers;
  for (const Value& size : sizes) {
    if (!size.is_int()) return std::nullopt;
    numbers.push_back(size.as_int());
  }
  return numbers;
}

// Sums of a convolution of input 0 by the input `w`.
Value conv_sums(const Call& call, size_t w, size_t x_zero, size_t w_zero) {
  const Windows windows = weight_windows(call, w);
  const auto begin = known(windows.begin), end = known(windows.end);
  if (begin && end)
    return function(
        "fxjit.integer_conv",
        {call[0], call[w], list_of(windows.strides), list_of(*begin),
         list_of(*end), list_of(windows.dilations), call.integer("group", 1),
         zero_over(call, 0, x_zero, 1), zero_over(call, w, w_zero, 0)});
  // Sums of products of 8 bits are whole in double precision.
  const Value x = centred(call, 0, x_zero, 1, DType::f64);
  const Value weight = centred(call, w, w_zero, 0, DType::f64);
  return cast(call, convolution(call, x, weight, {}, w), DType::i32);
}

Results conv_integer(Call& call) { return conv_sums(call, 1, 2, 3); }

// A scale of one dim stands for the places of `dim` of a product of this rank.
Value scale_over(const Call& call, size_t input, int64_t dim, int rank) {
  check_scale(call, input);
  const Value scale = cast(call, call[input], DType::f32);
  if (call.rank(input) != 1) return scale;
  const SizeList sizes = call.sizes(input);
  if (sizes[0].is_int() && sizes[0].as_int() == 1)
    return reshape(scale, Value::list({}));
  return along(call, scale, call.wrap(dim, rank), rank);
}

// Sums of products in the result's integers.
Value requantized(const Call& call, const Value& sums, const Value& factor,
                  size_t zero_point) {
  const Value real = cast(call, sums, DType::f32) * factor;
  return saturated(call, round(real), call[zero_point], call.dtype(zero_point));
}

Results qlinear_matmul(Call& call) {
  const int rank = std::max(call.rank(0), call.rank(3));
  const Value sums = product_sums(call, 3, 2, 5);
  const Value factor = scale_over(call, 1, -2, rank) *
                       scale_over(call, 4, -1, rank) /
                       cast(call, scale_over(call, 6, -2, rank), DType::f32);
  return requantized(call, sums, factor, 7);
}

Results qlinear_conv(Call& call) {
  Value sums = conv_sums(call, 3, 2, 5);
  if (call.has(8)) sums = sums + along(call, call[8], 1, call.rank(0));
  const int rank = call.rank(0);
  const Value factor = scale_over(call, 1, 1, rank) *
                       scale_over(call, 4, 1, rank) /
                       scale_over(call, 6, 1, rank);
  return requantized(call, sums, factor, 7);
}

constexpr OpRow kQuantizedOps[] = {
    {.op = "ConvInteger", .since = 10, .run = conv_integer},
    {.op = "DequantizeLinear", .since = 10, .run = dequantize},
    {.op = "DynamicQuantizeLinear", .since = 11, .run = dynamic_quantize},
    {.op = "MatMulInteger", .since = 10, .run = matmul_integer},
    {.op = "QLinearConv", .since = 10, .run = qlinear_conv},
    {.op = "QLinearMatMul", .since = 10, .run = qlinear_matmul},
    {.op = "QuantizeLinear", .since = 10, .run = quantize},
};

}  // namespace

std::span<const OpRow> quantized_rows() { return kQuantizedOps; }

}  // namespace fxjit::onnx
