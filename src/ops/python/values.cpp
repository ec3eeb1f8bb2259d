#include "src/ops/python/values.h"

#include <algorithm>

#include "src/ops/python/operators.h"

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
  return Tensor::from(std::vector{number.as_int()}, {});
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

// Functions of torch, on numbers: as on tensors without dims.
Value compute(const OpCall& call) {
  std::vector<Value> args = as_tensors(call, false);
  const OpCall exact{call.op, args, call.source, call.node};
  // Floats from integers are doubles, as Python's.
  if (infer(exact).as_tensor().dtype() == DType::f32)
    args = as_tensors(call, true);
  return number_of(
      run_eager({call.op, args, call.source, call.node}).as_tensor());
}

// The function of Python's `operator` that the row names; null where there is
// none, or a further argument says more than that one (`alpha`).
const PythonOperator* python_operator(const OpCall& call) {
  constexpr std::string_view kPrefix = "_operator.";
  const std::string_view names = call.op.row.names;
  const size_t at = names.find(kPrefix);
  if (at == names.npos) return nullptr;
  const std::string_view rest = names.substr(at + kPrefix.size());
  const PythonOperator* function =
      find_python_operator(rest.substr(0, rest.find(' ')));
  if (!function || !takes_plain(*function, call.args)) return nullptr;
  for (size_t i = function->count; i < call.args.size(); ++i)
    if (!same(call[i], call.op.parameters[i].default_value)) return nullptr;
  return function;
}

}  // namespace

Value python_value_op(const OpCall& call) {
  if (const PythonOperator* function = python_operator(call))
    return function->run(call.args.first(function->count));
  const bool numbers =
      std::all_of(call.args.begin(), call.args.end(), [](const Value& arg) {
        return arg.is_number() || arg.is_none() || arg.is_string();
      });
  if (numbers && call[0].is_number()) return compute(call);
  unsupported(call);
}

}  // namespace fxjit::ops
