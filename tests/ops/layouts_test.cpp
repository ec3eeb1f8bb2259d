// In which order of memory the results of every row lie: the shape rules and
// the interpreter against the strides that torch showed (make_layouts.py).
#include "src/ops/layouts.h"

#include <gtest/gtest.h>

#include <set>

#include "src/ops/aliasing.h"
#include "tests/ops/storages.h"
#include "tests/ops/structured_reference.h"

namespace fxjit {
namespace {

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

// The strides of a tensor in the words of the reference.
std::string word_of(const Tensor& t) {
  if (t.numel() == 0) return "-";
  std::string word;
  for (int d = 0; d < t.dim(); ++d)
    word += (d ? "," : "") +
            std::to_string(t.sizes()[d] == 1 ? 0 : t.strides()[d]);
  return word.empty() ? "()" : word;
}

// `memory` says for each tensor whether it is memory of an argument.
std::string words_of(const Value& result,
                     const std::vector<ops::ResultMemory>& memory) {
  std::string words;
  size_t next = 0;
  visit_leaves(result, [&](const Value& leaf) {
    if (!leaf.is_tensor()) return;
    const bool own = memory[next++].argument < 0;
    if (!words.empty()) words += '_';
    words += own ? word_of(leaf.as_tensor()) : "-";
  });
  return words;
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
    EXPECT_EQ(words_of(result, ops::result_memory({op, args}, result)),
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
    EXPECT_EQ(words_of(shape, ops::result_memory({op, metas}, shape)),
              c.expected.as_string());
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, Layouts, ::testing::ValuesIn(names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace fxjit
