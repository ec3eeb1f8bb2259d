// Formulas over sizes, as exported programs hold them: the sizes of inputs
// ("Mul(Integer(2), Symbol('s0', integer=True))", as sympy) and guards
// ("2*L['x'].size()[0] < 7", Python's). The grammar:
//
//   formula    := conjunction { "or" conjunction }
//   conjunction:= negation { "and" negation }
//   negation   := "not" negation | comparison
//   comparison := sum { ("==" | "!=" | "<" | "<=" | ">" | ">=") sum }
//   sum        := product { ("+" | "-") product }
//   product    := factor { ("*" | "//" | "%") factor }
//   factor     := ("-" | "+") factor | atom [ "**" factor ]
//   atom       := number | True | False | "(" formula ")" | symbol
//               | function "(" formula { "," formula } ")"
//               | "L" { "[" key "]" } ( ".size()" | ".shape" ) "[" number "]"
//   symbol     := letters and digits | "Symbol(" text { "," flag } ")"
//
// with the functions Add, Mul, Pow, PowByNatural, Mod, PythonMod, FloorDiv,
// CleanDiv, Max, Min, Eq, Ne, Lt, Le, Gt, Ge, And, Or, Not, Integer and those
// of sympy's long names of comparisons. All numbers are whole. Text outside the
// grammar is nothing; it is never evaluated otherwise.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fxjit::import {

class SizeFormula {
 public:
  static std::optional<SizeFormula> parse(std::string_view text);

  // The value of a name: a symbol "s0", or an input's size as "L['x'][0]" in
  // place of "L['x'].size()[0]". Nothing where it is not known.
  using Lookup = std::function<std::optional<int64_t>(const std::string& name)>;
  // Booleans are 0 and 1. Nothing where a name is unknown, for a division by 0
  // and for numbers beyond 64 bits.
  std::optional<int64_t> evaluate(const Lookup& lookup) const;

  // The names in it, each once, in order of appearance.
  const std::vector<std::string>& names() const { return names_; }
  // As a Python expression, with all brackets: "2*s0", "(s0 + 1)//2".
  std::string str() const;
  // The formula is this name alone.
  std::optional<std::string> symbol() const;

  enum class Kind : uint8_t {
    number,
    name,
    add,
    sub,
    mul,
    div,
    mod,
    pow,
    max,
    min,
    eq,
    ne,
    lt,
    le,
    gt,
    ge,
    both,
    either,
    inverse
  };
  struct Node {
    Kind kind;
    int64_t number = 0;  // A number's value, or a name's place in `names`.
    int left = -1, right = -1;
  };

 private:
  friend class FormulaParser;
  std::vector<Node> nodes_;  // Operands stand before what uses them.
  std::vector<std::string> names_;
};

}  // namespace fxjit::import
