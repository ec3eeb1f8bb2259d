// Whose memory the results of every row are: the interpreter's storages and the
// theory (src/ops/table/aliasing.h) against what torch's storages showed
// (make_aliasing.py).
#include "src/ops/table/aliasing.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/ops/reference.h"
#include "tests/ops/storages.h"
#include "tests/ops/structured_reference.h"

namespace fxjit {
namespace TEST_FILE {

using testing::StructuredCase;

const std::vector<StructuredCase>& cases() {
  static const auto* const all = new std::vector<StructuredCase>(
      testing::read_structured_reference("aliasing_reference.txt"));
  return *all;
}

std::vector<std::string> names() {
  std::set<std::string> unique;
  for (const StructuredCase& c : cases()) unique.insert(c.op);
  return {unique.begin(), unique.end()};
}

bool shows_argument(const Value& memories) {
  for (char c : memories.as_string())
    if (c >= '0' && c <= '9') return true;
  return false;
}

std::vector<Value> own_args(const ops::Op& op, const StructuredCase& c) {
  ValueList args = ops::bind(op, c.args, c.kwargs);
  for (Value& arg : args) arg = testing::apart(arg);
  return args;
}

class Aliasing : public ::testing::TestWithParam<std::string> {};

TEST_P(Aliasing, IsThatOfTorch) {
  const ops::Op& op = ops::get_op(GetParam());
  bool shown = false;
  for (const StructuredCase& c : cases()) {
    if (c.op != GetParam()) continue;
    SCOPED_TRACE(c.text);
    const std::vector<Value> args = own_args(op, c);
    const Value result = ops::run_eager({op, args});
    EXPECT_EQ(testing::memories(result, args), c.expected.as_string());
    EXPECT_EQ(testing::memories(ops::result_memory({op, args}, result)),
              c.expected.as_string());
    shown = shown || shows_argument(c.expected);
  }
  EXPECT_EQ(ops::may_alias(op), shown);
}

// As compiled graphs know it.
TEST_P(Aliasing, IsToldByShapes) {
  const ops::Op& op = ops::get_op(GetParam());
  for (const StructuredCase& c : cases()) {
    if (c.op != GetParam()) continue;
    SCOPED_TRACE(c.text);
    ValueList metas = ops::bind(op, c.args, c.kwargs);
    for (Value& arg : metas) arg = testing::without_numbers(arg);
    Value shape;
    try {
      shape = ops::infer({op, metas});
    } catch (const NotImplementedError&) {
      continue;  // Its size depends on the numbers.
    }
    EXPECT_EQ(testing::memories(ops::result_memory({op, metas}, shape)),
              c.expected.as_string());
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, Aliasing, ::testing::ValuesIn(names()),
                         [](const auto& info) { return info.param; });

template <typename Case>
void expect_told(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.op + " " + c.text);
    const ops::Op& op = ops::get_op(c.op);
    ValueList args = ops::bind(op, c.args, c.kwargs);
    for (Value& arg : args) arg = testing::apart(arg);
    const Value result = ops::run_eager({op, args});
    EXPECT_EQ(testing::memories(result, args),
              testing::memories(ops::result_memory({op, args}, result)));
  }
}

// More calls, of which torch's storages were looked at when the lines that
// stand for them were made.
TEST(AliasingRows, EveryReferenceIsTold) {
  expect_told(testing::read_reference("elementwise_reference.txt"));
  auto structured =
      testing::read_structured_reference("structured_reference.txt");
  std::erase_if(structured, [](const StructuredCase& c) {
    return c.kind == StructuredCase::Kind::failure;
  });
  expect_told(structured);
}

TEST(AliasingRows, EachHasReferenceData) {
  std::set<std::string> covered;
  for (const StructuredCase& c : cases()) covered.insert(c.op);
  for (const ops::Op* op : ops::all_ops()) {
    const std::string name(op->name());
    // "x.y" and "test_" rows are not torch's.
    if (name.find('.') != name.npos || name.starts_with("test_")) continue;
    EXPECT_TRUE(covered.contains(name))
        << "row " << name << " has no line in aliasing_reference.txt";
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
