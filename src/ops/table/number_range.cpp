#include "src/ops/table/number_range.h"

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "fxjit/error.h"
#include "src/ops/table/op_call.h"
#include "src/ops/table/words.h"
#include "src/tensor/visit.h"

namespace fxjit::ops {
namespace {

// The names of C++ types in torch's messages.
constexpr std::pair<DType, const char*> kTypeNames[] = {
    {DType::f16, "c10::Half"},
    {DType::bf16, "c10::BFloat16"},
    {DType::f8e4m3, "c10::Float8_e4m3fn"},
    {DType::f8e5m2, "c10::Float8_e5m2"},
    {DType::f32, "float"},
    {DType::f64, "double"},
    {DType::u8, "uint8_t"},
    {DType::i8, "int8_t"},
    {DType::i16, "int16_t"},
    {DType::i32, "int"},
    {DType::i64, "int64_t"}};

const char* type_in_messages(DType type) {
  for (const auto& [known, name] : kTypeNames)
    if (known == type) return name;
  throw InternalError("a type whose numbers have no bounds");
}

// Bounds of an integer type; both are exact in 64 bits.
struct IntegerBounds {
  int64_t least = 0, greatest = 0;
};

IntegerBounds bounds_of(DType type) {
  if (type == DType::u8) return {0, std::numeric_limits<uint8_t>::max()};
  const size_t bits = 8 * dtype_size(type);
  const int64_t greatest = std::numeric_limits<int64_t>::max() >> (64 - bits);
  return {-greatest - 1, greatest};
}

// Negative integers of an unsigned type are counted from its end, up to its
// greatest number.
bool holds_integer(DType type, Size number) {
  if (is_floating(type)) {
    constexpr double kEnd = 9223372036854775808.0;  // 2^63
    const double most = greatest_float(type);
    return most >= kEnd || (number <= static_cast<int64_t>(most) &&
                            number >= -static_cast<int64_t>(most));
  }
  const IntegerBounds bounds = bounds_of(type);
  const int64_t least = bounds.least == 0 ? -bounds.greatest : bounds.least;
  return number >= least && number <= bounds.greatest;
}

bool holds_float(DType type, double number) {
  if (is_floating(type))
    return !std::isfinite(number) || std::abs(number) <= greatest_float(type);
  const IntegerBounds bounds = bounds_of(type);
  // Comparisons with NaN are false; 2^63 is the float that the greatest 64-bit
  // integer becomes.
  return number >= static_cast<double>(bounds.least) &&
         number <= static_cast<double>(bounds.greatest);
}

// The type whose bounds a number must keep that becomes an element of `type`.
DType type_of_numbers(DType type, Conversion conversion) {
  const bool half = compute_dtype(type) != type;
  if (!half || conversion == Conversion::stored) return type;
  return conversion == Conversion::computed ? DType::f32 : DType::f64;
}

bool has_range(DType type) {
  return type != DType::boolean && !is_complex(type);
}

// The number that padding fills with, None where no padding is added. `pad`
// takes any number as a float.
Value padding_number(const OpCall& call, const Value& number) {
  const Value& pad = call[1];
  if (!pad.is_sequence()) return None;
  for (const Value& count : pad.as_sequence())
    if (count.is_int() && count.as_int() > 0)
      return call.op.name() == "pad" ? Value(number.as_double()) : number;
  return None;
}

Value converted_number(const OpCall& call, size_t at, DType type) {
  const Value& number = call[at];
  const std::string_view row = call.op.name();
  if (!number.is_int() && !number.is_float()) return None;
  if (row == "pad" || row == "constant_pad_nd")
    return padding_number(call, number);
  // Powers of float32 and float64 are computed in double precision.
  const bool wide = type == DType::f32 || type == DType::f64;
  if (row.starts_with("pow") && (!call[0].is_tensor() || wide)) return None;
  return number;
}

}  // namespace

double greatest_float(DType type) {
  constexpr double kHalf = 65504, kBrain = 3.3895313892515355e38,
                   kEightBy4 = 448, kEightBy5 = 57344;
  if (type == DType::f16) return kHalf;
  if (type == DType::bf16) return kBrain;
  if (type == DType::f8e4m3) return kEightBy4;
  if (type == DType::f8e5m2) return kEightBy5;
  return type == DType::f32 ? std::numeric_limits<float>::max()
                            : std::numeric_limits<double>::max();
}

bool converts_numbers(const Op& op) {
  return !op.row.facts.numbers.parameters.empty();
}

void check_number(const Value& number, DType type, Conversion conversion) {
  const DType in = type_of_numbers(type, conversion);
  if (!has_range(in)) return;
  const bool held = number.is_int() ? holds_integer(in, number.as_size())
                                    : holds_float(in, number.as_double());
  if (!held)
    throw RuntimeError("value cannot be converted to type " +
                       std::string(type_in_messages(in)) + " without overflow");
}

void check_numbers(const OpCall& call, const Value& result) {
  const ConvertedNumbers& converted = call.op.row.facts.numbers;
  if (converted.parameters.empty()) return;
  const std::vector<Tensor> made = tensors_in(result);
  if (made.empty()) return;
  const DType type = made[0].dtype();
  for (const std::string_view parameter : words_of(converted.parameters)) {
    const int at = call.op.index_of(parameter);
    if (at < 0 || static_cast<size_t>(at) >= call.args.size()) continue;
    const Value number = converted_number(call, static_cast<size_t>(at), type);
    if (!number.is_none()) check_number(number, type, converted.conversion);
  }
}

}  // namespace fxjit::ops
