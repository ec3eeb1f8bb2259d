#include "jit/emit/quotients.h"

#include <utility>

namespace fxjit::jit {

Quotients::Quotients(const ScalarBody& body)
    : body_(body),
      uses_(body.instrs.size(), 0),
      products_(body.instrs.size()),
      is_part_(body.instrs.size(), false) {
  for (const ScalarInstr& instr : body.instrs) {
    for (int a = 0; a < prim_arity(instr.prim); ++a) {
      ++uses_[size_t(instr.args[size_t(a)])];
    }
  }
  for (int32_t id : body.results) ++uses_[size_t(id)];
  find_products();
}

bool Quotients::is_lone(int32_t id, Prim prim) const {
  const ScalarInstr& instr = body_.instrs[size_t(id)];
  return instr.prim == prim && instr.type == DType::f32 &&
         uses_[size_t(id)] == 1 && !is_part_[size_t(id)];
}

void Quotients::find_products() {
  for (size_t i = 0; i < body_.instrs.size(); ++i) {
    const ScalarInstr& instr = body_.instrs[i];
    if (instr.prim != Prim::mul || instr.type != DType::f32) continue;
    auto [factor, sigmoid, unused] = instr.args;
    if (!is_lone(sigmoid, Prim::sigmoid)) std::swap(factor, sigmoid);
    if (!is_lone(sigmoid, Prim::sigmoid)) continue;
    const bool is_gate = is_lone(factor, Prim::tanh);
    products_[i] = {sigmoid, factor, is_gate};
    is_part_[size_t(sigmoid)] = true;
    if (is_gate) is_part_[size_t(factor)] = true;
  }
}

}  // namespace fxjit::jit
