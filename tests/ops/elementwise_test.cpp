// Every elementwise row against PyTorch's committed results: dtypes, promotion,
// broadcasting, strides, empty and 0-d tensors, NaN and infinities.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "fxjit/op.h"
#include "tests/ops/reference.h"
#include "tests/ops/structured_reference.h"

namespace fxjit {
namespace TEST_FILE {

using testing::difference;
using testing::ReferenceCase;

const std::vector<ReferenceCase>& cases() {
  static const auto* const all = new std::vector<ReferenceCase>(
      testing::read_reference("elementwise_reference.txt"));
  return *all;
}

std::vector<std::string> names() {
  std::set<std::string> unique;
  for (const ReferenceCase& c : cases()) unique.insert(c.op);
  return {unique.begin(), unique.end()};
}

// Views into the shared pools must not be written; in-place calls get a copy.
std::vector<Value> bound_args(const ops::Op& op, const ReferenceCase& c) {
  std::vector<Value> args = ops::bind(op, c.args, c.kwargs);
  if (ops::writes_input({op, args})) args[0] = args[0].as_tensor().clone();
  return args;
}

Value meta_of(const Value& value) {
  if (!value.is_tensor()) return value;
  const Tensor& t = value.as_tensor();
  return Tensor::meta(t.sizes(), t.dtype(), t.strides(), t.offset());
}

class Elementwise : public ::testing::TestWithParam<std::string> {};

TEST_P(Elementwise, EqualsPyTorch) {
  const ops::Op& op = ops::get_op(GetParam());
  for (const ReferenceCase& c : cases()) {
    if (c.op != GetParam()) continue;
    SCOPED_TRACE(c.text);
    const std::vector<Value> args = bound_args(op, c);
    const Value result = ops::run_eager({op, args});
    ASSERT_TRUE(result.is_tensor());
    EXPECT_EQ(difference(result.as_tensor(), c.expected), "");
    if (ops::writes_input({op, args})) {
      EXPECT_TRUE(result.as_tensor().is(args[0].as_tensor()));
    }
  }
}

TEST_P(Elementwise, InfersShapeAndTypeWithoutData) {
  const ops::Op& op = ops::get_op(GetParam());
  for (const ReferenceCase& c : cases()) {
    if (c.op != GetParam()) continue;
    SCOPED_TRACE(c.text);
    std::vector<Value> args = ops::bind(op, c.args, c.kwargs);
    for (Value& arg : args) arg = meta_of(arg);
    const Value inferred = ops::infer({op, args});
    ASSERT_TRUE(inferred.is_tensor());
    EXPECT_TRUE(inferred.as_tensor().is_meta());
    EXPECT_EQ(inferred.as_tensor().describe(), c.expected.describe());
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, Elementwise, ::testing::ValuesIn(names()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

TEST(ElementwiseRows, EachHasReferenceData) {
  std::set<std::string> covered;
  for (const ReferenceCase& c : cases()) covered.insert(c.op);
  for (const testing::StructuredCase& c :
       testing::read_structured_reference("structured_reference.txt"))
    covered.insert(c.op);
  for (const ops::Op* op : ops::all_ops()) {
    if (op->row.lowering != ops::Lowering::scalar) continue;
    if (op->name().starts_with("test_")) continue;  // Other tests' rows.
    EXPECT_TRUE(covered.contains(std::string(op->name())))
        << "row " << op->name() << " has no case in make_reference.py";
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
