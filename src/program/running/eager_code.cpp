#include "src/program/running/eager_code.h"

#include "src/program/planning/builder.h"

namespace fxjit::program {
namespace {

// A row whose two functions disagree must not give one answer here and another
// in the interpreter.
void check_as_planned(const ops::Op& op, const Tensor& planned,
                      const Tensor& computed) {
  if (planned.sizes() == computed.sizes() &&
      planned.dtype() == computed.dtype())
    return;
  throw UserError("[" + std::string(op.name()) + "] eager function: expected " +
                  planned.describe() + ", which the shape rule says, got " +
                  computed.describe());
}

}  // namespace

Tensor borrow(void* first, const Tensor& val) {
  const auto bytes = static_cast<size_t>(extent_bytes(val));
  return Tensor::view(Storage::borrow(first, bytes, nullptr), val.sizes(),
                      val.dtype(), val.strides(), 0);
}

ValueList borrow_args(const StepCall& call, const ValueList& args,
                      size_t& used) {
  used = 0;
  ValueList borrowed;
  for (const Value& arg : args)
    borrowed.push_back(map_leaves(arg, [&](const Value& leaf) -> Value {
      if (!leaf.is_tensor()) return leaf;
      return borrow(call.operands[used++], leaf.as_tensor());
    }));
  return borrowed;
}

EagerCode::EagerCode(const CallSpec& call)
    : op_(ops::get_op(call.op)), args_(call.args), results_(call.results) {}

void EagerCode::run(const StepCall& call, int64_t, int64_t) const {
  size_t operand = 0;
  const ValueList args = borrow_args(call, args_, operand);
  if (op_.row.direct) return run_direct(call, operand, args);
  const Value result = compute(args);
  for (size_t i = 0; i < results_.size(); ++i) {
    const Tensor& computed =
        result.is_tensor() ? result.as_tensor() : result.at(i).as_tensor();
    const Tensor& planned = results_[i].as_tensor();
    check_as_planned(op_, planned, computed);
    borrow(call.operands[operand++], planned).copy_from(computed);
  }
}

void EagerCode::run_direct(const StepCall& call, size_t operand,
                           const ValueList& args) const {
  std::vector<Tensor> results;
  for (const Value& result : results_)
    results.push_back(borrow(call.operands[operand++], result.as_tensor()));
  refusing_values([&] { op_.row.direct({op_, args}, results); });
}

Value EagerCode::compute(const ValueList& args) const {
  return refusing_values([&] { return ops::run_eager({op_, args}); });
}

std::string EagerCode::describe() const {
  return (native() ? "loops " : "eager ") + std::string(op_.name());
}

}  // namespace fxjit::program
