// In which order of memory the results of every row lie: the shape rules and
// the interpreter against the strides that torch showed (make_layouts.py).
#include <gtest/gtest.h>

#include <set>

#include "tests/ops/storages.h"
#include "tests/ops/structured_reference.h"

namespace fxjit {
namespace TEST_FILE {

using testing::StructuredCase;

const std::vector<StructuredCase>& cases() {
  static const auto* const all = new std::vector<StructuredCase>(
      testing::read_structured_reference("layouts_reference.txt"));
  return *all;
}

std::vector<std::string> names() {
  std::set<std::string> unique;
  for (const StructuredCase& c : cases()) unique.insert(c.op);
  return {unique.begin(), unique.end()};
}

class Layouts : public ::testing::TestWithParam<std::string> {};

TEST_P(Layouts, AreThoseOfTorch) {
  const ops::Op& op = ops::get_op(GetParam());
  for (const StructuredCase& c : cases()) {
    if (c.op != GetParam()) continue;
    SCOPED_TRACE(c.text);
    ValueList args = ops::bind(op, c.args, c.kwargs);
    for (Value& arg : args) arg = testing::apart(arg);
    const Value result = ops::run_eager({op, args});
    EXPECT_EQ(testing::layouts(result, std::string(c.expected.as_string())),
              c.expected.as_string());
  }
}

// As compiled graphs know them.
TEST_P(Layouts, AreToldByShapes) {
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
    EXPECT_EQ(testing::layouts(shape, std::string(c.expected.as_string())),
              c.expected.as_string());
  }
}

TEST(LayoutRows, ManyAreTurned) {
  size_t turned = 0;
  for (const StructuredCase& c : cases())
    turned += c.expected.as_string().starts_with("1,");
  EXPECT_GT(turned, cases().size() / 5);
}

INSTANTIATE_TEST_SUITE_P(Rows, Layouts, ::testing::ValuesIn(names()),
                         [](const auto& info) { return info.param; });

}  // namespace TEST_FILE
}  // namespace fxjit
