// Operators on plain Python values: sizes and tuples in model code.
#include <gtest/gtest.h>

#include "fxjit/functions.h"

namespace fxjit {
namespace TEST_FILE {

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

// As PyTorch's: flags may be integers, numbers tensors without dims.
TEST(PythonValues, StandForNumbersOfCalls) {
  const Tensor chances = Tensor::full({2, 3}, -1.0);
  const Tensor classes = Tensor::zeros({2}, DType::i64);
  const auto loss = [&](const char* flag, const Value& value) {
    return function("torch.nn.functional.nll_loss", {chances, classes},
                    {{flag, value}})
        .as_tensor();
  };
  EXPECT_EQ(loss("size_average", 0).item(), 2);
  EXPECT_EQ(loss("size_average", 1).item(), 1);
  EXPECT_EQ(loss("reduce", 0).sizes(), Dims({2}));
  const Tensor x = Tensor::full({4}, 3.0);
  const Tensor normal =
      function("torch.nn.functional.rms_norm",
               {x, Value::tuple({4}), None, Tensor::full({}, 7.0)})
          .as_tensor();
  EXPECT_FLOAT_EQ(normal.data_as<float>()[0], 0.75f);
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
  EXPECT_THROW(Value(1) % 0, ZeroDivisionError);
}

TEST(PythonValues, ErrorsNameTheSidesInOrder) {
  const auto text = [](auto call) {
    try {
      call();
    } catch (const TypeError& error) {
      return error.message();
    }
    return std::string();
  };
  EXPECT_EQ(text([] { return 1 < Value("a"); }),
            "'<' not supported between instances of 'int' and 'str'");
  EXPECT_EQ(text([] { return "a" + Value(1); }),
            "can only concatenate str (not \"int\") to str");
  EXPECT_EQ(text([] { return Value("a") - 1; }),
            "unsupported operand type(s) for -: 'str' and 'int'");
}

TEST(PythonValues, ErrorsNameTheLine) {
  try {
    Value(1) / 0;
    FAIL();
  } catch (const ZeroDivisionError& error) {
    EXPECT_NE(std::string(error.what()).find("python_values_test.cpp"),
              std::string::npos);
  }
}

TEST(PythonValues, ContainersOfTensorsAreContainers) {
  const Tensor x = Tensor::full({2}, 1), y = Tensor::full({2}, 2);
  EXPECT_EQ((list(x) + list(y)).size(), 2u);
  EXPECT_TRUE(getitem(list(x, y), -1).as_tensor().is(y));
  EXPECT_EQ(repr(list(x) == list(x)), "True");  // The same object.
  // Two elements have no truth.
  EXPECT_THROW(static_cast<void>(list(x) == list(y)), RuntimeError);
  EXPECT_EQ(repr(getitem(tuple(4, 5), Tensor::full({1}, 1, DType::i64))), "5");
}

TEST(PythonValues, BracesAndMakersAreDisplays) {
  const auto entries = []() -> Value { return {{"a", 1}, {"b", {{"c", 2}}}}; };
  EXPECT_EQ(repr(entries()), "{'a': 1, 'b': {'c': 2}}");
  EXPECT_EQ(repr(tuple(1, "a", list(), dict({{2, None}, {"k", tuple(1)}}))),
            "(1, 'a', [], {2: None, 'k': (1,)})");
  EXPECT_EQ(repr(dict({{"a", 1}, {"b", 2}, {"a", 3}})), "{'a': 3, 'b': 2}");
  EXPECT_EQ(repr(Value{{"a", 1}, {"a", 2}}), "{'a': 2}");
  EXPECT_THROW(dict({{list(1), 2}}), TypeError);
}

TEST(PythonValues, OtherTypesKeepTheirOperators) {
  EXPECT_TRUE((std::is_same_v<decltype(std::string() + "x"), std::string>));
  EXPECT_TRUE((std::is_same_v<decltype(Dims{} == Dims{}), bool>));
  EXPECT_TRUE((std::is_same_v<decltype(DType::f32 == DType::f32), bool>));
}

}  // namespace TEST_FILE
}  // namespace fxjit
