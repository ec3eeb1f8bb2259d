// Operators on plain Python values: sizes and tuples in model code.
#include <gtest/gtest.h>

#include "fxjit/functions.h"

namespace fxjit {
namespace {

TEST(PythonValues, NumbersFollowPython) {
  EXPECT_EQ(repr(Value(7) + 3), "10");
  EXPECT_EQ(repr(Value(7) + 0.5), "7.5");
  EXPECT_EQ(repr(Value(7) / 2), "3.5");
  EXPECT_EQ(repr(Value(1) / 3), "0.3333333333333333");
  EXPECT_EQ(repr(operators::floordiv(Value(-7), 2)), "-4");
  EXPECT_EQ(repr(Value(-7) % 3), "2");
  EXPECT_EQ(repr(operators::pow(Value(2), 10)), "1024");
  EXPECT_EQ(repr(operators::pow(Value(2), -1)), "0.5");
  EXPECT_EQ(repr(-Value(3)), "-3");
  EXPECT_EQ(repr(Value(true) + true), "2");
  EXPECT_EQ(repr(Value(6) & 3), "2");
  EXPECT_EQ(repr(Value(true) & false), "False");
  EXPECT_EQ(repr(Value(1) << 4), "16");
  EXPECT_EQ(repr(~Value(5)), "-6");
  EXPECT_EQ(repr(Value((int64_t{1} << 53) + 1) + 0), "9007199254740993");
}

TEST(PythonValues, ComparisonsGiveBools) {
  EXPECT_EQ(repr(Value(2) < 3), "True");
  EXPECT_EQ(repr(Value(2) == 2.0), "True");
  EXPECT_EQ(repr(Value("a") == "a"), "True");
  EXPECT_EQ(repr(Value() == None), "True");
  EXPECT_EQ(repr(Value("a") != Value::list({})), "True");
  EXPECT_EQ(repr(1.5 >= Value(2)), "False");
}

TEST(PythonValues, SequencesJoinAndRepeat) {
  const Value shape = Value::tuple({2, 3});
  EXPECT_EQ(repr(shape + Value::tuple({4})), "(2, 3, 4)");
  EXPECT_EQ(repr(Value::list({1}) * 3), "[1, 1, 1]");
  EXPECT_EQ(repr(Value("ab") + "c"), "'abc'");
  EXPECT_THROW(shape + Value::list({4}), TypeError);
  EXPECT_THROW(Value("a") - 1, TypeError);
}

TEST(PythonValues, DivisionByZeroIsAnError) {
  EXPECT_THROW(Value(1) % 0, RuntimeError);
}

TEST(PythonValues, OtherTypesKeepTheirOperators) {
  EXPECT_TRUE((std::is_same_v<decltype(std::string() + "x"), std::string>));
  EXPECT_TRUE((std::is_same_v<decltype(Dims{} == Dims{}), bool>));
  EXPECT_TRUE((std::is_same_v<decltype(DType::f32 == DType::f32), bool>));
}

}  // namespace
}  // namespace fxjit
