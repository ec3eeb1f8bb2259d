// Python's operators on every value, and pair of values, of the table that
// make_python_operators.py writes.
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <map>
#include <sstream>

#include "fxjit/op.h"
#include "src/ops/python/items.h"
#include "src/ops/python/operators.h"

namespace fxjit::ops {
namespace TEST_FILE {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// VALUES of the script.
const std::vector<Value>& values() {
  static const std::vector<Value> all = {
      None,
      true,
      false,
      0,
      1,
      -1,
      2,
      -3,
      7,
      70,
      std::numeric_limits<int64_t>::max(),
      std::numeric_limits<int64_t>::min(),
      0.0,
      -0.0,
      0.5,
      -2.5,
      3.0,
      1e308,
      kInfinity,
      std::numeric_limits<double>::quiet_NaN(),
      "",
      "a",
      "ab",
      "b",
      "é∂",
      "%s is %d",
      "%5.2f%%",
      list(),
      list(1),
      list(1, 2),
      list("a"),
      list(list(1), 2.0),
      tuple(),
      tuple(1),
      tuple(1, 2),
      tuple("a", 1),
      tuple(list(1)),
      tuple("x", 3),
      dict(),
      dict({{"a", 1}}),
      dict({{1, "x"}}),
      Value::slice(None, None),
      Value::slice(1, 3),
      Value::slice(None, None, -1),
      Value::slice("a", None),
      Value::slice(-2, 9, 2),
      Value::slice(None, None, 0),
      Value::range(0, 3, 1),
      Value::range(5, 0, -2),
      DType::f32,
      DType::i64,
      Ellipsis};
  return all;
}

struct Line {
  std::string operation;
  size_t first;
  std::vector<size_t> second;  // One that is not used for unary operators.
  bool unary;
  std::string result;
};

std::vector<size_t> numbers(const std::string& text) {
  std::vector<size_t> result;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const size_t dash = part.find('-');
    const size_t from = std::stoul(part.substr(0, dash));
    const size_t to =
        dash == part.npos ? from : std::stoul(part.substr(dash + 1));
    for (size_t i = from; i <= to; ++i) result.push_back(i);
  }
  return result;
}

std::vector<Line> table() {
  std::vector<Line> lines;
  std::ifstream file(FXJIT_SOURCE_DIR "/tests/ops/python_operators.txt");
  for (std::string text; std::getline(file, text);) {
    std::istringstream fields(text);
    Line line;
    std::string first, second;
    std::getline(fields, line.operation, '\t');
    std::getline(fields, first, '\t');
    std::getline(fields, second, '\t');
    std::getline(fields, line.result);
    line.first = std::stoul(first);
    line.unary = second == "-";
    line.second = line.unary ? std::vector<size_t>{0} : numbers(second);
    lines.push_back(std::move(line));
  }
  return lines;
}

void replace_all(std::string& text, const std::string& from,
                 std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
    text.replace(at, from.size(), to);
}

// As the table has it; errors name the types of the operands.
std::string expected(const Line& line, const Value& a, const Value& b) {
  std::string result = line.result;
  if (!result.starts_with('!')) return result;
  replace_all(result, "{a}", a.kind_name());
  replace_all(result, "{b}", b.kind_name());
  return result;
}

template <typename E>
bool is(const Error& error) {
  return dynamic_cast<const E*>(&error) != nullptr;
}

std::string type_of(const Error& error) {
  if (is<TypeError>(error)) return "TypeError";
  if (is<ValueError>(error)) return "ValueError";
  if (is<IndexError>(error)) return "IndexError";
  if (is<KeyError>(error)) return "KeyError";
  if (is<ZeroDivisionError>(error)) return "ZeroDivisionError";
  if (is<OverflowError>(error)) return "OverflowError";
  return "another error";
}

// By the function that graphs call where the op table has one.
Value call(const std::string& operation, const ValueList& args) {
  if (const Spelling* spelling = find_function("_operator." + operation))
    return call_function(*spelling, args);
  return call_python_operator(*find_python_operator(operation), args, {});
}

std::string result_of(const Line& line, const Value& a, const Value& b) {
  try {
    if (line.operation == "length") return repr(python::length(a));
    ValueList args{a};
    if (!line.unary) args.push_back(b);
    if (line.operation == "setitem") args.push_back(5);
    return repr(call(line.operation, args));
  } catch (const Error& error) {
    return "!" + type_of(error) + ": " + error.message();
  }
}

TEST(PythonOperators, ValuesAreThoseOfTheTable) {
  size_t count = 0;
  for (const Line& line : table()) {
    if (line.operation != "value") continue;
    ASSERT_LT(line.first, values().size());
    // Python leaves the stop of a range and the parts of a slice in place.
    EXPECT_EQ(repr(values()[line.first]), line.result);
    ++count;
  }
  EXPECT_EQ(count, values().size());
}

TEST(PythonOperators, AllPairsOfValuesGiveWhatPythonGives) {
  std::map<std::string, size_t> counts;
  for (const Line& line : table()) {
    if (line.operation == "value") continue;
    const Value& a = values()[line.first];
    for (const size_t second : line.second) {
      const Value& b = values()[second];
      EXPECT_EQ(result_of(line, a, b), expected(line, a, b))
          << line.operation << " of " << repr(a)
          << (line.unary ? "" : " and " + repr(b));
      ++counts[line.operation];
    }
  }
  // Nothing of the table is left out, no operator is missing in it.
  for (const PythonOperator& function : python_operators())
    EXPECT_GT(counts[std::string(function.name)], 0u) << function.name;
}

// A call of the op itself, as compiled programs and decompositions make it.
TEST(PythonOperators, OpsAgreeWithTheirOperators) {
  for (const Line& line : table()) {
    const Spelling* spelling = find_function("_operator." + line.operation);
    if (!spelling || line.operation == "matmul" || line.operation == "inv")
      continue;
    const Value& a = values()[line.first];
    const Value& b = values()[line.second.front()];
    Line same_line = line;
    try {
      ValueList args{a};
      if (!line.unary) args.push_back(b);
      const std::vector<Value> bound = bind(*spelling->op, args, {});
      EXPECT_EQ(repr(run_eager({*spelling->op, bound})), expected(line, a, b))
          << line.operation << " of " << repr(a) << " and " << repr(b);
    } catch (const Error& error) {
      EXPECT_EQ("!" + type_of(error) + ": " + error.message(),
                expected(line, a, b))
          << line.operation << " of " << repr(a) << " and " << repr(b);
    }
  }
}

TEST(PythonOperators, CountsAndKeywordsAreChecked) {
  const auto text = [](const ValueList& args, const Kwargs& kwargs) {
    try {
      call_function(get_function("_operator.add"), args, kwargs);
    } catch (const TypeError& error) {
      return error.message();
    }
    return std::string();
  };
  EXPECT_EQ(text({1}, {}), "add expected 2 arguments, got 1");
  EXPECT_EQ(text({1, 2, 3}, {}), "add expected 2 arguments, got 3");
  EXPECT_EQ(text({1, 2}, {{"b", 3}}), "add() takes no keyword arguments");
}

TEST(PythonOperators, FormatsNumbersAndTextsAsPython) {
  const auto format = [](const char* text, const Value& values) {
    return std::string(
        call_function(get_function("_operator.mod"), {text, values})
            .as_string());
  };
  EXPECT_EQ(format("%-6d|%+d|% d|%06d", tuple(42, 42, 42, -42)),
            "42    |+42| 42|-00042");
  EXPECT_EQ(format("%x %X %#x %o %#o", tuple(255, 255, 255, 8, 8)),
            "ff FF 0xff 10 0o10");
  EXPECT_EQ(format("%.3f %e %g %G", tuple(1.0 / 3, 12345.678, 1e-10, 1e20)),
            "0.333 1.234568e+04 1e-10 1E+20");
  EXPECT_EQ(format("%(a)s=%(b)r", dict({{"a", "x"}, {"b", "y"}})), "x='y'");
  EXPECT_EQ(format("%*d|%-*d|%.*f", tuple(5, 1, 4, 2, 1, 2.55)),
            "    1|2   |2.5");
  EXPECT_EQ(format("%c%c %5.2s| %a", tuple("é", 8706, "abc", "é")),
            "é∂    ab| '\\xe9'");
  EXPECT_EQ(format("%d", 2.9), "2");
  EXPECT_THROW(format("%y", 1), ValueError);
  EXPECT_THROW(format("%", 1), ValueError);
  EXPECT_THROW(format("%x", 1.5), TypeError);
  EXPECT_THROW(format("%(a)s", 1), TypeError);
  EXPECT_THROW(format("%d", kInfinity), OverflowError);
}

}  // namespace TEST_FILE
}  // namespace fxjit::ops
