#include "src/import/onnx/uint64.h"

#include <algorithm>
#include <limits>

#include "src/import/onnx/ops/families.h"
#include "src/import/onnx/tensors.h"
#include "src/import/onnx/unsigned_types.h"

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

// A shift by 64 places or more leaves nothing; int64 counts the largest numbers
// of places as negative ones.
Value shifted_right(const Value& a, const Value& places) {
  const Value less_one = where(lt(places, 0), 63, places - 1);
  const Value shifted = bitwise_right_shift(half_of(a), clamp(less_one, 0, 63));
  return where(eq(places, 0), a, shifted);
}

// --- To real numbers and back. ---

// A number from 2^63 on is twice its half, whose last bit rounds as the lost
// one would have.
Value as_real(const Call& call, const Value& a, DType dtype) {
  const Value half = bitwise_or(half_of(a), bitwise_and(a, 1));
  return where(lt(a, 0), cast(call, half, dtype) * 2, cast(call, a, dtype));
}

// The first bit of a number from 2^63 on is set by itself: the rest fits int64.
Value from_real(const Call& call, const Value& real) {
  constexpr double kFrom = 0x1p63;
  const Value x = cast(call, real, DType::f64);
  const Value is_large = ge(x, kFrom);
  const Value rest = cast(call, where(is_large, x - kFrom, x), DType::i64);
  return where(is_large, turned(rest), rest);
}

// Computed with real numbers, which keep 53 bits of each.
Results by_reals(const Call& call, const OpRow& row) {
  std::vector<Operand> inputs = call.operands();
  inputs[0] = as_real(call, call[0], DType::f64);
  Call real = call.with_inputs(std::move(inputs));
  return from_real(call, run_row(row, real).items[0].value);
}

Results by_op(Call& call, std::string_view op) {
  const OpRow* const row = find_row({}, op, call.opset());
  if (!row)
    call.fail("opset " + std::to_string(call.opset()) + " has no " +
              std::string(op));
  return run_row(*row, call);
}

// The root of the sum of squares, which wraps around.
Value length(Call& call) {
  const Value squares = by_op(call, "ReduceSumSquare").items[0].value;
  return from_real(call, sqrt(as_real(call, squares, DType::f64)));
}

// Casts between uint64 and real numbers, for which int64 would be another
// number; nothing for other casts.
std::optional<Results> cast_of_reals(const Call& call) {
  const bool like = call.node().op == "CastLike";
  const int64_t named = stated_type(call);
  const auto target = like ? std::optional(call.dtype(1)) : find_dtype(named);
  if (!target) return std::nullopt;
  if (call.unsigned_bits(0) == 64 && is_floating(*target))
    return as_real(call, call[0], *target);
  const UnsignedBits bits =
      like ? call.unsigned_bits(1) : unsigned_bits_of(named);
  if (bits != 64) return std::nullopt;
  const Value example = Recorder::example(call[0]);
  if (!example.is_tensor() || !is_floating(example.as_tensor().dtype()))
    return std::nullopt;
  return from_real(call, call[0]);
}

// --- Order. ---

// An op that compares numbers with one another.
struct Comparing {
  std::string_view op;
  InputBits inputs;      // Those that it compares, which have one type.
  bool chooses = false;  // Its first result is some of these numbers.
};

constexpr InputBits kFirst = 1, kDataAndUpdates = 1 | 4;
constexpr bool kChooses = true;

constexpr Comparing kComparing[] = {
    {"ArgMax", kFirst},
    {"ArgMin", kFirst},
    {"Clip", kAllInputs, kChooses},
    {"Greater", kAllInputs},
    {"GreaterOrEqual", kAllInputs},
    {"Less", kAllInputs},
    {"LessOrEqual", kAllInputs},
    {"Max", kAllInputs, kChooses},
    {"Min", kAllInputs, kChooses},
    {"ReduceMax", kFirst, kChooses},
    {"ReduceMin", kFirst, kChooses},
    {"ScatterElements", kDataAndUpdates, kChooses},
    {"ScatterND", kDataAndUpdates, kChooses},
    {"TopK", kFirst, kChooses},
    {"Unique", kFirst, kChooses},
};

// How the call compares numbers of uint64; null where it does not.
const Comparing* comparing(const Call& call) {
  const std::string_view op = call.node().op;
  const auto found =
      std::find_if(std::begin(kComparing), std::end(kComparing),
                   [&](const Comparing& one) { return one.op == op; });
  if (found == std::end(kComparing)) return nullptr;
  if (unsigned_bits_of(call, found->inputs) != 64) return nullptr;
  if (found->inputs != kDataAndUpdates) return found;
  const std::string reduction = call.text("reduction", "none");
  return reduction == "max" || reduction == "min" ? found : nullptr;
}

// The call on turned numbers; numbers that it gives are turned back.
Results in_order(const Call& call, const OpRow& row, const Comparing& how) {
  std::vector<Operand> inputs = call.operands();
  for (size_t i = 0; i < call.inputs(); ++i)
    if (call.has(i) && includes(how.inputs, i)) inputs[i] = turned(call[i]);
  Call ordered = call.with_inputs(std::move(inputs));
  Results results = run_row(row, ordered);
  if (how.chooses) results.items[0] = turned(results.items[0].value);
  return results;
}

// --- Other ops by name. ---

void check_support(const Call& call) {
  const std::string_view op = call.node().op;
  if (op == "Gemm" && (call.real("alpha", 1) != 1 || call.real("beta", 1) != 1))
    call.fail("alpha and beta: factors of uint64 are not supported");
  if ((op == "Resize" || op == "Upsample") &&
      call.text("mode", "nearest") != "nearest")
    call.fail("mode: sums of uint64 with weights are not supported");
}

// None of these numbers is negative.
std::optional<Results> without_sign(Call& call) {
  const std::string_view op = call.node().op;
  if (op == "Abs" || op == "PRelu") return call.operand(0);
  if (op == "Sign") return cast(call, ne(call[0], 0), DType::i64);
  if (op == "ReduceL1") return by_op(call, "ReduceSum");
  return std::nullopt;
}

std::optional<Results> arithmetic(Call& call, const OpRow& row) {
  const std::string_view op = row.op;
  if (op == "Div") return quotient(call);
  if (op == "Mod") return call[0] - quotient(call) * call[1];
  if (op == "BitShift" && call.text("direction", "") == "RIGHT")
    return shifted_right(call[0], call[1]);
  if (op == "ReduceMean" || op == "Shrink") return by_reals(call, row);
  if (op == "ReduceL2") return length(call);
  return std::nullopt;
}

}  // namespace

std::optional<Results> uint64_results(Call& call, const OpRow& row) {
  if (row.op == "Cast" || row.op == "CastLike") return cast_of_reals(call);
  if (const Comparing* const how = comparing(call))
    return in_order(call, row, *how);
  if (unsigned_result(call, 0) != 64) return std::nullopt;
  check_support(call);
  if (auto results = without_sign(call)) return results;
  return arithmetic(call, row);
}

}  // namespace fxjit::onnx
