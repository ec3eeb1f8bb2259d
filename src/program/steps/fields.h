// Lists the fields of a program's parts, each named once, beside the struct
// that has them. Whatever writes programs, reads them or weighs them walks
// these lists. A field that is missing from its list is lost when a program is
// written; tests/compile/program_fields_test.cpp finds that.
#pragma once

#include <concepts>
#include <type_traits>

#include "fxjit/scalar_body.h"

namespace fxjit::program {

// S is T or const T: the same list serves writing and reading.
template <typename S, typename T>
concept Is = std::same_as<std::remove_const_t<S>, T>;

template <typename V>
void fields(Is<ScalarInstr> auto& s, V& v) {
  v("prim", s.prim), v("type", s.type), v("slot", s.slot), v("args", s.args);
  v("imm", s.imm), v("bits", s.bits);
}
template <typename V>
void fields(Is<ScalarBody> auto& s, V& v) {
  v("instrs", s.instrs), v("results", s.results);
}

}  // namespace fxjit::program
