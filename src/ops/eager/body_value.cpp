#include "src/ops/eager/body_value.h"

namespace fxjit::ops {
namespace {

Value numbers(std::span<const int32_t> ids) {
  return Value::tuple(ValueList(ids.begin(), ids.end()));
}

Value instr_value(const ScalarInstr& instr) {
  return Value::tuple({static_cast<int64_t>(instr.prim), instr.type, instr.slot,
                       numbers(instr.args), instr.imm, instr.bits});
}

ScalarInstr instr_from(const Value& value) {
  ScalarInstr instr;
  instr.prim = static_cast<Prim>(value.at(0).as_int());
  instr.type = value.at(1).as_dtype();
  instr.slot = static_cast<int32_t>(value.at(2).as_int());
  for (size_t i = 0; i < instr.args.size(); ++i)
    instr.args[i] = static_cast<int32_t>(value.at(3).at(i).as_int());
  instr.imm = value.at(4).as_double();
  instr.bits = value.at(5).as_int();
  return instr;
}

}  // namespace

Value to_value(const ScalarBody& body) {
  ValueList instrs;
  for (const ScalarInstr& instr : body.instrs)
    instrs.push_back(instr_value(instr));
  return Value::tuple({Value::tuple(std::move(instrs)), numbers(body.results)});
}

ScalarBody body_from(const Value& value) {
  ScalarBody body;
  for (const Value& instr : value.at(0).as_sequence())
    body.instrs.push_back(instr_from(instr));
  for (const Value& id : value.at(1).as_sequence())
    body.results.push_back(static_cast<int32_t>(id.as_int()));
  return body;
}

}  // namespace fxjit::ops
