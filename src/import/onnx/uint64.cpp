#include "src/import/onnx/uint64.h"

#include <algorithm>
#include <limits>

#include "src/import/onnx/ops/families.h"
#include "src/import/onnx/tensors.h"

namespace fxjit::onnx {
namespace {

constexpr int64_t kFirstBit = std::numeric_limits<int64_t>::min();
constexpr int64_t kOtherBits = std::numeric_limits<int64_t>::max();

// With the first bit turned, numbers without a sign have the order of numbers
// with one.
Value turned(const Value& x) { return bitwise_xor(x, kFirstBit); }

Value half_of(const Value& x) {
  return bitwise_and(bitwise_right_shift(x, 1), kOtherBits);
}

Value at_least(const Value& a, const Value& b) {
  return ge(turned(a), turned(b));
}

// Twice the quotient of the half, which int64 holds, is at most one too small.
// A divisor from 2^63 on goes once or not at all.
Value quotient(const Call& call) {
  const Value a = call[0], b = call[1];
  const Value less = where(lt(b, 0), 1, b);
  const Value twice =
      function("torch.div", {half_of(a), less}, {{"rounding_mode", "trunc"}}) *
      2;
  const Value small =
      twice + cast(call, at_least(a - twice * less, less), DType::i64);
  return where(lt(b, 0), cast(call, at_least(a, b), DType::i64), small);
}

Value shifted_right(const Value& a, const Value& places) {
  const Value shifted = bitwise_right_shift(
      half_of(a), function("torch.clamp", {places - 1, 0, 63}));
  return where(eq(places, 0), a, shifted);
}

// Of a number from 2^63 on: twice its half, whose last bit rounds as the lost
// one would have.
Value as_real(const Call& call, DType dtype) {
  const Value a = call[0];
  const Value half = bitwise_or(half_of(a), bitwise_and(a, 1));
  return where(lt(a, 0), cast(call, half, dtype) * 2, cast(call, a, dtype));
}

constexpr std::string_view kCompared[] = {
    "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "ArgMax", "ArgMin",
};
// Those that give some of the numbers that they compare, as first result.
constexpr std::string_view kChosen[] = {
    "Max", "Min", "Clip", "ReduceMax", "ReduceMin", "TopK",
};

template <typename List>
bool holds(const List& list, std::string_view op) {
  return std::find(std::begin(list), std::end(list), op) != std::end(list);
}

// The call on turned numbers; numbers that it gives are turned back.
Results in_order(const Call& call, const OpRow& row) {
  std::vector<Operand> inputs;
  for (size_t i = 0; i < call.inputs(); ++i)
    inputs.push_back(call.unsigned_bits(i) == 64 ? Operand(turned(call[i]))
                     : call.has(i)               ? call.operand(i)
                                                 : Operand());
  Call ordered = call.with_inputs(std::move(inputs));
  Results results = row.run ? row.run(ordered)
                            : Results(function(row.function, ordered.all()));
  if (holds(kChosen, row.op))
    results.items[0].value = turned(results.items[0].value);
  return results;
}

std::optional<DType> real_target(const Call& call) {
  const std::string_view op = call.node().op;
  const auto dtype = op == "CastLike" ? std::optional(call.dtype(1))
                     : op == "Cast"   ? find_dtype(call.integer("to", 0))
                                      : std::nullopt;
  return dtype && is_floating(*dtype) ? dtype : std::nullopt;
}

}  // namespace

std::optional<Results> uint64_results(const Call& call, const OpRow& row) {
  if (call.unsigned_bits(0) != 64) return std::nullopt;
  if (holds(kCompared, row.op) || holds(kChosen, row.op))
    return in_order(call, row);
  if (row.op == "Div") return quotient(call);
  if (row.op == "Mod") return call[0] - quotient(call) * call[1];
  if (row.op == "BitShift" && call.text("direction", "") == "RIGHT")
    return shifted_right(call[0], call[1]);
  if (const auto dtype = real_target(call)) return as_real(call, *dtype);
  return std::nullopt;
}

}  // namespace fxjit::onnx
