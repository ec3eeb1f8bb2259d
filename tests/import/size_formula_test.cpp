// Formulas over sizes and what calls are checked for.
#include "src/import/pt2/size_formula.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "fxjit/error.h"
#include "fxjit/pt2.h"
#include "tests/import/model_cases.h"

namespace fxjit {
namespace TEST_FILE {

using import::SizeFormula;
using ::testing::HasSubstr;

std::optional<int64_t> value_of(const std::string& text) {
  const auto formula = SizeFormula::parse(text);
  EXPECT_TRUE(formula.has_value()) << text;
  if (!formula) return std::nullopt;
  return formula->evaluate(
      [](const std::string& name) -> std::optional<int64_t> {
        if (name == "s0" || name == "L['x'][0]") return 7;
        if (name == "s1" || name == "L['d']['k'][1]") return -3;
        return std::nullopt;
      });
}

TEST(SizeFormula, AsPython) {
  EXPECT_EQ(value_of("2*s0 + 1"), 15);
  EXPECT_EQ(value_of("2*(s0 + 1)"), 16);
  EXPECT_EQ(value_of("s0 - 2 - 1"), 4);
  EXPECT_EQ(value_of("s1 // 2"), -2);
  EXPECT_EQ(value_of("s1 % 2"), 1);
  EXPECT_EQ(value_of("s0 // -2"), -4);
  EXPECT_EQ(value_of("s0 % -2"), -1);
  EXPECT_EQ(value_of("-s0**2"), -49);
  EXPECT_EQ(value_of("2**3**2"), 512);
  EXPECT_EQ(value_of("1 < s0 <= 7"), 1);
  EXPECT_EQ(value_of("1 < s0 < 7"), 0);
  EXPECT_EQ(value_of("s0 == 7 and not s1 > 0"), 1);
  EXPECT_EQ(value_of("s0 != 7 or s1 < 0"), 1);
  EXPECT_EQ(value_of("Max(1, s0, s1) + Min(s0, 2)"), 9);
  EXPECT_EQ(value_of("2*L['x'].size()[0] < 7 + L['d']['k'].size()[1]"), 0);
  EXPECT_EQ(value_of("(L['x'].size()[0] % 2) == 1"), 1);
}

TEST(SizeFormula, AsSympy) {
  EXPECT_EQ(value_of("Mul(Integer(2), Symbol('s0', positive=True, "
                     "integer=True))"),
            14);
  EXPECT_EQ(value_of("Add(FloorDiv(Symbol('s1', integer=True), Integer(2)), "
                     "Mod(Symbol('s0', integer=True), Integer(4)), "
                     "Integer(-1))"),
            0);
  EXPECT_EQ(value_of("Pow(Symbol('s0'), Integer(2))"), 49);
}

TEST(SizeFormula, WithoutAValue) {
  EXPECT_EQ(value_of("s0 // 0"), std::nullopt);
  EXPECT_EQ(value_of("s0 % (s0 - 7)"), std::nullopt);
  EXPECT_EQ(value_of("9223372036854775807 + 1"), std::nullopt);
  EXPECT_EQ(value_of("s0**99"), std::nullopt);
  EXPECT_EQ(value_of("u0 + 1"), std::nullopt);
}

TEST(SizeFormula, OutsideTheGrammar) {
  for (const char* text : {"",
                           "s0 +",
                           "(s0",
                           "s0)",
                           "s0 / 2",
                           "2.5*s0",
                           "import os",
                           "f(s0)",
                           "L['x'].stride()[0]",
                           "L['x'].size()[-1]",
                           "__import__('os')",
                           "s0 s1",
                           "Mod(s0, s1, s0)",
                           "Symbol(s0)",
                           "L['x'",
                           "'text'",
                           "99999999999999999999",
                           "[s0]",
                           "s0 if s1 else 2",
                           "lambda: 1"})
    EXPECT_FALSE(SizeFormula::parse(text).has_value()) << text;
  EXPECT_FALSE(SizeFormula::parse(std::string(100'000, '(')).has_value());
  EXPECT_FALSE(SizeFormula::parse(std::string(100'000, '-')).has_value());
  std::string many = "1";
  for (int i = 0; i < 100'000; ++i) many += "+1";
  EXPECT_FALSE(SizeFormula::parse(many).has_value());
}

TEST(SizeFormula, TextOfAFormulaIsTheSameFormula) {
  for (const char* text : {"2*(s0 + 1) // 3", "Max(s0, s1) - -s1",
                           "not s0 == 3", "s0**2 % 5 < 4 or s1 > 0"}) {
    const auto formula = SizeFormula::parse(text);
    ASSERT_TRUE(formula.has_value());
    EXPECT_EQ(value_of(formula->str()), value_of(text)) << formula->str();
  }
}

TEST(SizeFormula, RandomText) {
  constexpr std::string_view kParts[] = {
      "s0",          "2",    "(",    ")",    "+", "-",
      "*",           "//",   "%",    "**",   "<", "==",
      " and ",       " or ", "not ", "Max(", ",", "L['x'].size()[0]",
      "Symbol('a')", "'"};
  std::mt19937 random(1);
  int parsed = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (int parts = random() % 9; parts >= 0; --parts)
      text += kParts[random() % std::size(kParts)];
    const auto formula = SizeFormula::parse(text);
    if (!formula) continue;
    ++parsed;
    formula->evaluate([](const std::string&) { return 3; });
  }
  EXPECT_GT(parsed, 500);
}

std::string error_of(const pt2::Program& program, const ValueList& args,
                     const Kwargs& kwargs = {}) {
  try {
    program.check(args, kwargs);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(InputChecks, SizesRangesAndConditions) {
  const pt2::Program program = pt2::load(testing_import::model_path("dynamic"));
  const auto error = [&](int64_t rows, int64_t more) {
    return error_of(program,
                    {Tensor::zeros({rows, 6}), Tensor::zeros({more, 6})});
  };
  EXPECT_EQ(error(4, 9), "");
  EXPECT_EQ(error(5, 20), "");
  EXPECT_THAT(error(3, 9), HasSubstr("input x, dim 0"));
  EXPECT_THAT(error(3, 9), HasSubstr("from 4 to 100, got 3"));
  EXPECT_THAT(error(101, 500), HasSubstr("from 4 to 100, got 101"));
  EXPECT_THAT(error(9, 9), HasSubstr("L['x'][0] = 9"));
  EXPECT_THAT(error(9, 9), HasSubstr("2*L['x'].size()[0] < 7"));
}

TEST(InputChecks, WrongInputs) {
  const pt2::Program program = pt2::load(testing_import::model_path("dynamic"));
  const Tensor x = Tensor::zeros({4, 6}), y = Tensor::zeros({9, 6});
  EXPECT_THAT(error_of(program, {x}), HasSubstr("argument y is missing"));
  EXPECT_THAT(error_of(program, {x, y, x}), HasSubstr("at most 2 arguments"));
  EXPECT_THAT(error_of(program, {x}, {{"z", y}}), HasSubstr("no argument z"));
  EXPECT_THAT(error_of(program, {x}, {{"x", y}}),
              HasSubstr("x is given twice"));
  EXPECT_EQ(error_of(program, {x}, {{"y", y}}), "");
  EXPECT_THAT(error_of(program, {x, 3}), HasSubstr("input y: expected y: f"));
  EXPECT_THAT(error_of(program, {x, tuple(y)}), HasSubstr("got a tuple"));
  EXPECT_THAT(error_of(program, {Tensor::zeros({4, 6}, DType::f64), y}),
              HasSubstr("input x: expected float32"));
  EXPECT_THAT(error_of(program, {Tensor::zeros({4, 7}), y}),
              HasSubstr("input x: expected float32"));
  EXPECT_THAT(error_of(program, {Tensor::zeros({4}), y}),
              HasSubstr("input x: expected float32"));
}

}  // namespace TEST_FILE
}  // namespace fxjit
