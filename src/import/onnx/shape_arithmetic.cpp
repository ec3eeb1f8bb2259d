#include "src/import/onnx/shape_arithmetic.h"

#include <algorithm>
#include <functional>

#include "fxjit/functions.h"
#include "src/import/onnx/op_rows.h"
#include "src/import/onnx/slices.h"
#include "src/import/onnx/tensors.h"

namespace fxjit::onnx {
namespace {

using Result = std::optional<Numbers>;

// An input's numbers; nothing for what is no such tensor.
Result numbers_of(const Call& call, size_t i) {
  if (!call.has(i)) return std::nullopt;
  const Operand& operand = call.operand(i);
  if (operand.numbers) return operand.numbers;
  constexpr int64_t kMost = 1024;
  const Tensor* const tensor = call.recorder().constant_of(operand.value);
  if (!tensor || tensor->dim() > 1 || tensor->numel() > kMost ||
      !(is_integral(tensor->dtype()) || tensor->dtype() == DType::boolean))
    return std::nullopt;
  Numbers numbers;
  for (const int64_t value : tensor->to_ints())
    numbers.items.emplace_back(value);
  numbers.scalar = tensor->dim() == 0;
  numbers.dtype = tensor->dtype();
  return numbers;
}

// Whether an input's numbers are other ones than int64 says, or may become so:
// uint64's from 2^63 on, and differences without a sign, which wrap around.
bool wraps(const Call& call, size_t i, const Numbers& numbers) {
  if (call.unsigned_bits(i) == 0) return false;
  if (call.node().op == "Sub") return true;
  return std::any_of(
      numbers.items.begin(), numbers.items.end(),
      [](const Value& item) { return item.is_number() && item.as_int() < 0; });
}

// a where `chosen`, a proxy of a truth value, else b.
Value choose(const Value& chosen, const Value& a, const Value& b) {
  if (chosen.is_number()) return chosen.as_int() != 0 ? a : b;
  return chosen * a + (1 - chosen) * b;
}

// Quotient without the part behind the point. Python's // rounds down.
std::optional<Value> divide(const Value& a, const Value& b) {
  if (!b.is_number() || b.as_int() == 0) return std::nullopt;
  const int64_t divisor = b.as_int();
  if (a.is_number() && divisor != -1) return Value(a.as_int() / divisor);
  if (divisor < 0) return std::nullopt;
  if (divisor == 1) return a;
  return operators::floordiv(a + (a < 0) * (divisor - 1), divisor);
}

// With the sign of the divisor, as Python's.
std::optional<Value> modulo(const Value& a, const Value& b) {
  if (!b.is_number() || b.as_int() == 0) return std::nullopt;
  return a % b;
}

// What the quotient leaves, with the sign of the dividend.
std::optional<Value> remainder_of(const Value& a, const Value& b) {
  const auto quotient = divide(a, b);
  if (!quotient) return std::nullopt;
  return a - *quotient * b;
}

// The operator stands here and not in a functor of the standard library, since
// errors name the place.
#define FXJIT_OPERATOR(sign)                                   \
  [](const Value& a, const Value& b) -> std::optional<Value> { \
    return a sign b;                                           \
  }

std::optional<Value> larger(const Value& a, const Value& b) {
  return choose(a > b, a, b);
}

std::optional<Value> smaller(const Value& a, const Value& b) {
  return choose(a < b, a, b);
}

struct BinaryRow {
  std::string_view op;
  std::optional<Value> (*run)(const Value& a, const Value& b);
  bool truth = false;
};

constexpr BinaryRow kBinaries[] = {
    {"Add", FXJIT_OPERATOR(+)},
    {"Sub", FXJIT_OPERATOR(-)},
    {"Mul", FXJIT_OPERATOR(*)},
    {"Div", divide},
    {"Mod", modulo},
    {"Max", larger},
    {"Min", smaller},
    {"Equal", FXJIT_OPERATOR(==), true},
    {"Less", FXJIT_OPERATOR(<), true},
    {"Greater", FXJIT_OPERATOR(>), true},
};
#undef FXJIT_OPERATOR

// The i-th element of what broadcasts.
const Value& item_at(const Numbers& numbers, size_t i) {
  return numbers.items[numbers.items.size() == 1 ? 0 : i];
}

// Elements of a result of these inputs; nothing where they do not broadcast.
std::optional<Numbers> broadcast(std::span<const Numbers> inputs) {
  Numbers result{{}, true, inputs[0].dtype};
  size_t size = 1;
  for (const Numbers& input : inputs) {
    result.scalar = result.scalar && input.scalar;
    if (input.items.size() == 1) continue;
    if (size != 1 && size != input.items.size()) return std::nullopt;
    size = input.items.size();
  }
  result.items.resize(size);
  return result;
}

Result binary(const BinaryRow& row, const Numbers& a, const Numbers& b) {
  const Numbers inputs[] = {a, b};
  Result result = broadcast(inputs);
  if (!result) return std::nullopt;
  for (size_t i = 0; i < result->items.size(); ++i) {
    const auto item = row.run(item_at(a, i), item_at(b, i));
    if (!item) return std::nullopt;
    result->items[i] = *item;
  }
  if (row.truth) result->dtype = DType::boolean;
  return result;
}

Result where(const std::vector<Numbers>& in) {
  Result result = broadcast(in);
  if (!result) return std::nullopt;
  for (size_t i = 0; i < result->items.size(); ++i)
    result->items[i] =
        choose(item_at(in[0], i), item_at(in[1], i), item_at(in[2], i));
  result->dtype = in[1].dtype;
  return result;
}

Result gather(const Call& call, const Numbers& data) {
  const auto indices = call.known_ints(1);
  if (!indices || call.rank(1) > 1 || data.scalar) return std::nullopt;
  Numbers result{{}, call.rank(1) == 0, data.dtype};
  const auto count = static_cast<int64_t>(data.items.size());
  for (int64_t index : *indices) {
    if (index < 0) index += count;
    if (index < 0 || index >= count)
      call.fail("index " + std::to_string(index) + " is not one of " +
                std::to_string(count));
    result.items.push_back(data.items[static_cast<size_t>(index)]);
  }
  return result;
}

Result concat(const std::vector<Numbers>& in) {
  Numbers result{{}, false, in[0].dtype};
  for (const Numbers& part : in) {
    if (part.scalar) return std::nullopt;
    result.items.insert(result.items.end(), part.items.begin(),
                        part.items.end());
  }
  return result;
}

Result slice(const Call& call, const Numbers& data) {
  if (data.scalar) return std::nullopt;
  const auto slices = known_slices(call);
  if (!slices || slices->size() != 1) return std::nullopt;
  const auto count = static_cast<int64_t>(data.items.size());
  Numbers result{{}, false, data.dtype};
  const Slice one = (*slices)[0].clamped(count);
  for (int64_t i = one.start; one.step > 0 ? i < one.end : i > one.end;
       i += one.step)
    result.items.push_back(data.items[static_cast<size_t>(i)]);
  return result;
}

Result cast(const Call& call, Numbers data) {
  const auto dtype = find_dtype(call.integer("to"));
  if (dtype != DType::i64 && dtype != DType::i32) return std::nullopt;
  data.dtype = *dtype;
  return data;
}

Result reshaped(const Numbers& data, bool scalar) {
  if (scalar && data.items.size() != 1) return std::nullopt;
  return Numbers{data.items, scalar, data.dtype};
}

Result reshape(const Call& call, const Numbers& data) {
  const auto shape = call.known_ints(1);
  if (!shape || shape->size() > 1) return std::nullopt;
  const auto count = static_cast<int64_t>(data.items.size());
  if (!shape->empty() && (*shape)[0] != -1 && (*shape)[0] != count)
    return std::nullopt;
  return reshaped(data, shape->empty());
}

Result product(const Call& call, const Numbers& data) {
  const bool none = call.flag("noop_with_empty_axes", false);
  if (call.inputs() > 1 || data.items.empty() || none) return std::nullopt;
  Value result = 1;
  for (const Value& item : data.items) result = result * item;
  const bool scalar = data.scalar || !call.flag("keepdims", true);
  return Numbers{{result}, scalar, data.dtype};
}

// The number that an update leaves at its place; nothing for reductions that
// are unknown.
std::optional<Value> updated(const std::string& reduction, const Value& old,
                             const Value& update) {
  if (reduction == "none") return update;
  if (reduction == "add") return old + update;
  if (reduction == "mul") return old * update;
  if (reduction == "max") return larger(old, update);
  if (reduction == "min") return smaller(old, update);
  return std::nullopt;
}

// Updates of single numbers, at places that are known.
Result scattered_numbers(const Call& call, Numbers data,
                         const Numbers& updates) {
  const auto places = call.known_ints(1);
  if (data.scalar || !places || places->size() != updates.items.size())
    return std::nullopt;
  const auto count = static_cast<int64_t>(data.items.size());
  const std::string reduction = call.text("reduction", "none");
  for (size_t i = 0; i < places->size(); ++i) {
    const int64_t place = (*places)[i] + ((*places)[i] < 0 ? count : 0);
    if (place < 0 || place >= count)
      call.fail("index " + std::to_string((*places)[i]) + " is not one of " +
                std::to_string(count));
    Value& item = data.items[static_cast<size_t>(place)];
    const auto made = updated(reduction, item, updates.items[i]);
    if (!made) return std::nullopt;
    item = *made;
  }
  return data;
}

// ScatterND whose indices, [n, 1], are places of a list.
bool is_of_rows(const Call& call) {
  if (call.node().op != "ScatterND" || !call.known_ints(1)) return false;
  const int rank = call.rank(1);
  if (rank < 1) return false;
  const Value last = call.size(1, rank - 1);
  return last.is_int() && last.as_int() == 1;
}

Result negative(Numbers data) {
  for (Value& item : data.items) item = -item;
  return data;
}

// Whether the op names one axis, which numbers of one element gain or lose.
bool names_one_axis(const Call& call) {
  if (call.has(1)) return call.length(1) == 1;
  const auto axes = call.integers("axes");
  return axes && axes->size() == 1;
}

Result evaluate(const Call& call, const std::vector<Numbers>& in) {
  const std::string_view op = call.node().op;
  if (op == "Mod" && in.size() == 2 && call.flag("fmod", false))
    return binary({"Mod", remainder_of}, in[0], in[1]);
  for (const BinaryRow& row : kBinaries)
    if (row.op == op && in.size() == 2) return binary(row, in[0], in[1]);
  if (op == "Gather") return gather(call, in[0]);
  if (op == "Concat") return concat(in);
  if (op == "Slice") return slice(call, in[0]);
  if (op == "Cast") return cast(call, in[0]);
  if (op == "Unsqueeze" && in[0].scalar && names_one_axis(call))
    return reshaped(in[0], false);
  if (op == "Squeeze" && !in[0].scalar) return reshaped(in[0], true);
  if (op == "Reshape") return reshape(call, in[0]);
  if (op == "ReduceProd") return product(call, in[0]);
  if ((op == "ScatterElements" || op == "Scatter") && in.size() == 3)
    return scattered_numbers(call, in[0], in[2]);
  if (is_of_rows(call) && in.size() == 3)
    return scattered_numbers(call, in[0], in[2]);
  if (op == "Neg") return negative(in[0]);
  if (op == "Where" && in.size() == 3) return where(in);
  return std::nullopt;
}

}  // namespace

std::optional<Results> evaluate_numbers(Call& call) {
  if (!plain_domain(call.node().domain).empty()) return std::nullopt;
  bool follows_from_sizes = false;
  std::vector<Numbers> inputs;
  for (size_t i = 0; i < call.inputs(); ++i) {
    if (i == 1 && is_of_rows(call)) {
      inputs.emplace_back();
      continue;
    }
    auto numbers = numbers_of(call, i);
    if (!numbers || wraps(call, i, *numbers)) return std::nullopt;
    follows_from_sizes =
        follows_from_sizes || call.operand(i).numbers.has_value();
    inputs.push_back(std::move(*numbers));
  }
  if (!follows_from_sizes) return std::nullopt;
  const auto result = evaluate(call, inputs);
  if (!result) return std::nullopt;
  return Results(*result);
}

}  // namespace fxjit::onnx
