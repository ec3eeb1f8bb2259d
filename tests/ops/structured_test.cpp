// Every structured row against PyTorch's committed results: dtypes, strides,
// empty and size-1 tensors, NaN and infinities, errors; and shape rules against
// eager results.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "fxjit/op.h"
#include "src/ops/table/op_facts.h"
#include "tests/ops/reference.h"
#include "tests/ops/shadow_proxy.h"
#include "tests/ops/structured_reference.h"

namespace fxjit {
namespace TEST_FILE {

using testing::StructuredCase;
using Kind = StructuredCase::Kind;

const std::vector<StructuredCase>& cases() {
  static const auto* const all = new std::vector<StructuredCase>(
      testing::read_structured_reference("structured_reference.txt"));
  return *all;
}

std::vector<std::string> names() {
  std::set<std::string> unique;
  for (const StructuredCase& c : cases()) unique.insert(c.op);
  return {unique.begin(), unique.end()};
}

Value meta_of(const Value& value) {
  return map_leaves(value, [](const Value& leaf) -> Value {
    if (!leaf.is_tensor()) return leaf;
    const Tensor& t = leaf.as_tensor();
    return Tensor::meta(t.sizes(), t.dtype(), t.strides(), t.offset());
  });
}

std::vector<Value> metas(std::vector<Value> args) {
  for (Value& arg : args) arg = meta_of(arg);
  return args;
}

// Results whose size depends on the data have no shape rule.
bool depends_on_data(const StructuredCase& c) {
  bool mask = false;
  for (size_t i = 1; i < c.args.size(); ++i)
    visit_leaves(c.args[i], [&](const Value& leaf) {
      mask |= leaf.is_tensor() && (leaf.as_tensor().dtype() == DType::boolean ||
                                   leaf.as_tensor().dtype() == DType::u8);
    });
  return testing::depends_on_data_always(c.op) ||
         (mask &&
          (c.op == "index" || (c.op == "getitem" && c.args[1].is_tensor()))) ||
         (c.op == "repeat_interleave" && c.args[1].is_tensor()) ||
         (c.op == "one_hot" && c.args.size() == 1);
}

// A view where the number in an index tensor without dims is known.
bool layout_depends_on_data(const StructuredCase& c) {
  bool number = false;
  if (c.op == "getitem")
    visit_leaves(c.args[1], [&](const Value& leaf) {
      number |= leaf.is_tensor() && leaf.as_tensor().dim() == 0;
    });
  return number;
}

// Arguments as a kernel may have them: those that write get a copy.
std::vector<Value> own_args(const ops::Op& op, const StructuredCase& c) {
  std::vector<Value> args = ops::bind(op, c.args, c.kwargs);
  if (!ops::writes_input({op, args})) return args;
  const Tensor& given = args[0].as_tensor();
  const Tensor copy = Tensor::empty(given.sizes(), given.dtype());
  copy.copy_from(given);
  args[0] = copy;
  return args;
}

std::string type_of(const std::exception& error) {
  if (dynamic_cast<const IndexError*>(&error)) return "IndexError";
  if (dynamic_cast<const ValueError*>(&error)) return "ValueError";
  if (dynamic_cast<const TypeError*>(&error)) return "TypeError";
  if (dynamic_cast<const AssertionError*>(&error)) return "AssertionError";
  if (dynamic_cast<const NotImplementedError*>(&error))
    return "NotImplementedError";
  if (dynamic_cast<const RuntimeError*>(&error)) return "RuntimeError";
  return "another error";
}

template <typename Fn>
void expect_failure(const StructuredCase& c, Fn&& run) {
  try {
    run();
    ADD_FAILURE() << "expected " << c.error_type << ": " << c.error_text;
  } catch (const Error& error) {
    EXPECT_EQ(type_of(error), c.error_type) << error.what();
    EXPECT_EQ(error.message(), c.error_text);
    EXPECT_EQ(error.context().op.empty(), false);
  }
}

class Structured : public ::testing::TestWithParam<std::string> {};

TEST_P(Structured, EqualsPyTorch) {
  const ops::Op& op = ops::get_op(GetParam());
  for (const StructuredCase& c : cases()) {
    if (c.op != GetParam() || c.kind == Kind::failure) continue;
    SCOPED_TRACE(c.text);
    const std::vector<Value> args = own_args(op, c);
    const Value result = ops::run_eager({op, args});
    EXPECT_EQ(testing::difference(result, c.expected, c.kind == Kind::view),
              "");
  }
}

TEST_P(Structured, InfersWhatTheKernelReturns) {
  const ops::Op& op = ops::get_op(GetParam());
  for (const StructuredCase& c : cases()) {
    if (c.op != GetParam() || c.kind == Kind::failure || depends_on_data(c) ||
        layout_depends_on_data(c))
      continue;
    SCOPED_TRACE(c.text);
    const std::vector<Value> args = own_args(op, c);
    const std::vector<Value> shapes = metas(args);
    EXPECT_EQ(testing::shape_difference(ops::infer({op, shapes}),
                                        ops::run_eager({op, args}),
                                        c.kind == Kind::view),
              "");
  }
}

// Errors of shapes come from the shape rule, those of data from the kernel.
TEST_P(Structured, FailsAsPyTorch) {
  const ops::Op& op = ops::get_op(GetParam());
  for (const StructuredCase& c : cases()) {
    if (c.op != GetParam() || c.kind != Kind::failure) continue;
    SCOPED_TRACE(c.text);
    const std::vector<Value> args = ops::bind(op, c.args, c.kwargs);
    expect_failure(c, [&] { ops::run_eager({op, args}); });
  }
}

// In a graph the arguments of a decomposition have shapes only.
TEST_P(Structured, DecomposesOnProxies) {
  const ops::Op& op = ops::get_op(GetParam());
  if (!op.row.decompose) return;
  for (const StructuredCase& c : cases()) {
    if (c.op != GetParam() || c.kind == Kind::failure || depends_on_data(c))
      continue;
    SCOPED_TRACE(c.text);
    std::vector<Value> args = ops::bind(op, c.args, c.kwargs);
    for (Value& arg : args) arg = testing::shadowed(arg);
    const Value result = op.row.decompose({op, args});
    EXPECT_EQ(testing::difference(testing::revealed(result), c.expected,
                                  c.kind == Kind::view),
              "");
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, Structured, ::testing::ValuesIn(names()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

TEST(StructuredRows, EachHasReferenceData) {
  std::set<std::string> covered;
  for (const StructuredCase& c : cases()) covered.insert(c.op);
  // Held against it by random_test.cpp.
  for (const StructuredCase& c :
       testing::read_structured_reference("random_reference.txt"))
    covered.insert(c.op);
  for (const testing::ReferenceCase& c :
       testing::read_reference("elementwise_reference.txt"))
    covered.insert(c.op);
  for (const ops::Op* op : ops::all_ops()) {
    const std::string name(op->name());
    // "x.y" and "test_" rows are not torch's.
    if (name.find('.') != name.npos || name.starts_with("test_")) continue;
    if (ops::facts_of(*op).undetermined) continue;
    EXPECT_TRUE(covered.contains(name))
        << "row " << name << " has no case in make_structured_reference.py";
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
