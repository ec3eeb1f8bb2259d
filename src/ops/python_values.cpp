#include "src/ops/python_values.h"

#include <algorithm>

namespace fxjit::ops {
namespace {

[[noreturn]] void unsupported(const OpCall& call) {
  std::string kinds;
  for (const Value& arg : call.args)
    if (!arg.is_none())
      kinds +=
          (kinds.empty() ? "'" : " and '") + std::string(arg.kind_name()) + "'";
  throw TypeError("unsupported operand type(s) for " +
                  std::string(call.op.name()) + ": " + kinds);
}

Value concatenate(const OpCall& call) {
  const Value &a = call[0], &b = call[1];
  if (a.is_string() && b.is_string())
    return std::string(a.as_string()) + std::string(b.as_string());
  if (!a.is_sequence() || a.kind() != b.kind()) unsupported(call);
  ValueList items = a.as_sequence();
  const ValueList& tail = b.as_sequence();
  items.insert(items.end(), tail.begin(), tail.end());
  return a.is_list() ? Value::list(std::move(items))
                     : Value::tuple(std::move(items));
}

Value repeat(const OpCall& call) {
  const bool first = call[0].is_sequence();
  const Value& sequence = first ? call[0] : call[1];
  const Value& count = first ? call[1] : call[0];
  if (!sequence.is_sequence() || !count.is_int()) unsupported(call);
  ValueList items;
  for (int64_t i = 0; i < count.as_int(); ++i)
    for (const Value& item : sequence.as_sequence()) items.push_back(item);
  return sequence.is_list() ? Value::list(std::move(items))
                            : Value::tuple(std::move(items));
}

Value number_of(const Tensor& result) {
  if (result.dtype() == DType::boolean) return result.item() != 0;
  if (is_integral(result.dtype())) return result.to_ints()[0];
  return result.item();
}

Tensor zero_dim(const Value& number, bool as_float) {
  if (number.is_float() || as_float)
    return Tensor::full({}, number.as_double(), DType::f64);
  if (number.is_bool())
    return Tensor::full({}, number.as_bool() ? 1 : 0, DType::boolean);
  const int64_t value = number.as_int();
  return Tensor::from(std::span<const int64_t>(&value, 1), {});
}

// The call with its numbers as 0-d tensors: ints exact, floats as doubles.
std::vector<Value> as_tensors(const OpCall& call, bool as_float) {
  const ScalarTypes types = call.op.row.scalar_types;
  const bool arithmetic = types != ScalarTypes::compare &&
                          types != ScalarTypes::logical &&
                          types != ScalarTypes::bitwise;
  std::vector<Value> args(call.args.begin(), call.args.end());
  for (size_t i = 0; i < args.size(); ++i) {
    const Parameter& parameter = call.op.parameters[i];
    if (!args[i].is_number() || parameter.default_value.is_number()) continue;
    if (args[i].is_bool() && arithmetic) args[i] = args[i].as_int();
    args[i] = zero_dim(args[i], as_float);
  }
  return args;
}

Value compute(const OpCall& call) {
  // Python's int ** -1 is a float; tensors refuse it.
  bool as_float =
      call.op.name() == "pow" && call[1].is_number() && call[1].as_double() < 0;
  std::vector<Value> args = as_tensors(call, as_float);
  const OpCall exact{call.op, args, call.source, call.node};
  if (!as_float && infer(exact).as_tensor().dtype() == DType::f32) {
    // Floats from integers (`/`, exp): Python's are doubles.
    as_float = true;
    args = as_tensors(call, as_float);
  }
  return number_of(
      run_eager({call.op, args, call.source, call.node}).as_tensor());
}

}  // namespace

Value python_value_op(const OpCall& call) {
  const bool numbers =
      std::all_of(call.args.begin(), call.args.end(), [](const Value& arg) {
        return arg.is_number() || arg.is_none() || arg.is_string();
      });
  if (numbers && call[0].is_number()) return compute(call);
  const std::string_view name = call.op.name();
  if (name == "eq") return same(call[0], call[1]);
  if (name == "ne") return !same(call[0], call[1]);
  if (name == "add") return concatenate(call);
  if (name == "mul") return repeat(call);
  unsupported(call);
}

}  // namespace fxjit::ops
