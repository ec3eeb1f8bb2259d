#include "src/import/onnx/narrow_types.h"

#include <cmath>
#include <limits>

#include "src/import/onnx/function_facts.h"
#include "src/import/onnx/ops/families.h"
#include "src/import/onnx/tensors.h"
#include "src/import/onnx/unsigned_types.h"

namespace fxjit::onnx {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Which inputs the results of an op have their type from: bit i stands for
// input i.
constexpr FunctionFacts<InputBits>::Group kMoves[] = {
    {1,
     "CenterCropPad Compress DepthToSpace Expand Flatten Gather GatherElements "
     "GatherND Identity Pad Reshape ReverseSequence ScatterElements ScatterND "
     "Slice SpaceToDepth Split Squeeze Tile Transpose Trilu Unsqueeze"},
    {kAllInputs, "Concat"},
    {2 | 4, "Where"},
    {0, "Cast CastLike Equal If IsInf IsNaN Loop Scan Shape Size"}};

const InputBits* find_move(std::string_view op) {
  static const auto* const all = new FunctionFacts<InputBits>(kMoves);
  return all->find(op);
}

// A type of few bits: one that others carry, or one of the real types of 8 bits
// that tensors have.
struct Narrow {
  CarriedType carried = CarriedType::none;
  std::optional<DType> real;

  explicit operator bool() const {
    return real || carried != CarriedType::none;
  }
  std::string_view name() const {
    return real ? dtype_name(*real) : carried_name(carried);
  }
};

Narrow narrow_of(CarriedType carried) { return {carried, {}}; }

Narrow narrow_of(DType dtype) {
  if (!is_float8(dtype)) return {};
  return {CarriedType::none, dtype};
}

Narrow narrow_of(int64_t element_type) {
  const auto dtype = find_dtype(element_type);
  if (dtype && is_float8(*dtype)) return narrow_of(*dtype);
  return narrow_of(narrow_type_of(element_type));
}

// How numbers of a carried type lie: bits of the mantissa, bias of the
// exponent, and the largest number.
struct Format {
  int mantissa, bias;
  double largest;
  bool is_f4 = false;  // It has a negative zero and no NaN, others the reverse.
};

Format format_of(CarriedType type) {
  if (type == CarriedType::f4e2m1) return {1, 1, 6, true};
  return type == CarriedType::f8e4m3fnuz ? Format{3, 8, 240}
                                         : Format{2, 16, 57344};
}

// The absolute values of f32 numbers, rounded to nearest, ties to even: bits
// behind the mantissa are rounded away, but numbers below the least normal one
// are multiples of the smallest.
Value rounded_sizes(const Value& sizes, const Format& format) {
  const int shift = std::numeric_limits<float>::digits - 1 - format.mantissa;
  const int64_t unit = int64_t{1} << shift;
  const double least = std::ldexp(1, 1 - format.bias);
  const double quantum = std::ldexp(least, -format.mantissa);
  const Value bits = method(sizes, "view", {DType::i32});
  const Value odd = bitwise_and(bitwise_right_shift(bits, shift), 1);
  const Value whole = bitwise_and(bits + odd + (unit / 2 - 1), -unit);
  const Value multiple = function("torch.round", {sizes * (1 / quantum)});
  return where(sizes < least, multiple * quantum,
               method(whole, "view", {DType::f32}));
}

// Beyond the largest number: that, or NaN.
Value rounded(const Call& call, const Value& given, CarriedType type) {
  const Format format = format_of(type);
  const double beyond = call.flag("saturate", true) ? format.largest : kNan;
  const Value x = cast(call, given, DType::f32);
  const Value sizes = rounded_sizes(abs(x), format);
  const Value bounded = where(sizes > format.largest, beyond, sizes);
  Value made = where(isnan(x), format.is_f4 ? Value(-0.0) : x,
                     function("torch.copysign", {bounded, x}));
  if (!format.is_f4) made = where(made == 0, 0.0, made);
  return cast(call, made, DType::f16);
}

// Casts saturate to e4m3 and give infinities of e5m2, where NaN and the largest
// number may be asked for. 464 lies between 448 and NaN in place of 480.
Value cast_to_float8(const Call& call, const Value& given, DType type) {
  constexpr double kLargest = 57344, kRoundedDown = 464;
  const bool saturates = call.flag("saturate", true);
  Value x = cast(call, given, DType::f32);
  if (type == DType::f8e5m2 && saturates) x = clamp(x, -kLargest, kLargest);
  if (type == DType::f8e4m3 && !saturates)
    x = where(abs(x) > kRoundedDown, kNan, x);
  return cast(call, x, type);
}

bool is_integer(CarriedType type) {
  return packed_bits(type) > 0 && carrier_of(type) != DType::f16;
}

// Whole numbers of which the lowest bits are kept.
Value wrapped(const Call& call, const Value& given, CarriedType type) {
  const int64_t most = int64_t{1} << packed_bits(type);
  const int64_t sign = carrier_of(type) == DType::i8 ? most / 2 : 0;
  const Value whole = cast(call, given, DType::i32);
  return cast(call, bitwise_and(whole + sign, most - 1) - sign,
              carrier_of(type));
}

// Numbers of any type as those of a narrow one.
Value converted(const Call& call, const Value& given, const Narrow& type) {
  if (type.real) return cast_to_float8(call, given, *type.real);
  return is_integer(type.carried) ? wrapped(call, given, type.carried)
                                  : rounded(call, given, type.carried);
}

Narrow type_of(const Call& call, size_t i) {
  if (!call.has(i)) return {};
  const Operand& one = call.operand(i);
  if (one.narrow != CarriedType::none) return narrow_of(one.narrow);
  if (one.value.is_tensor()) return narrow_of(one.value.as_tensor().dtype());
  if (!one.value.is_proxy()) return {};
  const Value example = Recorder::known(one.value).example;
  return example.is_tensor() ? narrow_of(example.as_tensor().dtype())
                             : Narrow{};
}

// That of the inputs `which`.
Narrow type_among(const Call& call, InputBits which) {
  for (size_t i = 0; i < call.inputs(); ++i)
    if (includes(which, i))
      if (const Narrow type = type_of(call, i)) return type;
  return {};
}

// What an attribute states for the results.
Narrow stated(const Call& call) {
  if (const int64_t type = stated_type(call)) return narrow_of(type);
  const AttributeInfo* const value = call.node().find("value");
  return value && value->tensor
             ? narrow_of(int64_t{read_tensor_info(*value->tensor).data_type})
             : Narrow{};
}

// A scale or zero point as it broadcasts: one number, or one for each place of
// a dim.
Value spread(const Call& call, size_t i) {
  const Value x = cast(call, call[i], DType::f32);
  if (call.rank(i) == 0) return x;
  if (call.rank(i) > 1 || call.integer("block_size", 0) != 0)
    call.fail("blocks of float8 numbers are not supported");
  if (const Value size = call.size(i, 0); size.is_int() && size.as_int() == 1)
    return reshape(x, Value::list({}));
  const int64_t axis = call.wrap(call.integer("axis", 1), call.rank(0));
  return along(call, x, axis, call.rank(0));
}

Value dequantized(const Call& call) {
  const Value x = cast(call, call[0], DType::f32);
  const Value moved = call.has(2) ? x - spread(call, 2) : x;
  return cast(call, moved * spread(call, 1), call.dtype(1));
}

Results marked(Results results, const Narrow& type) {
  for (Operand& result : results.items) result.narrow = type.carried;
  return results;
}

Results quantized_to(const Call& call, const Narrow& type) {
  const Value x = cast(call, call[0], DType::f32) / spread(call, 1);
  return marked(converted(call, call.has(2) ? x + spread(call, 2) : x, type),
                type);
}

}  // namespace

CarriedType narrow_type_of(int64_t element_type) {
  const CarriedType type = carried_type_of(element_type);
  return bits_type_of(type) == DType::u8 ? type : CarriedType::none;
}

CarriedType narrow_type_of(const TypeInfo& type) {
  const TypeInfo* inner = &type;
  while (!inner->element.empty()) inner = &inner->element[0];
  return narrow_type_of(inner->element_type);
}

std::optional<Results> narrow_results(Call& call, const OpRow& row) {
  const Narrow given = type_among(call, kAllInputs);
  const Narrow named = stated(call);
  if (!given && !named) return std::nullopt;
  const Narrow target = row.op == "CastLike" ? type_of(call, 1) : named;
  if (row.op == "Cast" || row.op == "CastLike") {
    if (!target) return run_row(row, call);
    return marked(converted(call, call[0], target), target);
  }
  if (row.op == "Constant" || row.op == "ConstantOfShape")
    return marked(run_row(row, call), named);
  if (row.op == "DequantizeLinear")
    if (const Narrow type = type_of(call, 0))
      return is_integer(type.carried) ? run_row(row, call)
                                      : Results(dequantized(call));
  if (row.op == "QuantizeLinear" && !type_of(call, 0))
    if (const Narrow made = call.has(2) ? type_of(call, 2) : named)
      return is_integer(made.carried) ? marked(run_row(row, call), made)
                                      : quantized_to(call, made);
  const InputBits* const move = find_move(row.op);
  if (!move || named || !row.domain.empty())
    call.fail("numbers of " + std::string((named ? named : given).name()) +
              " are not supported by this op");
  return marked(run_row(row, call), type_among(call, *move));
}

}  // namespace fxjit::onnx
