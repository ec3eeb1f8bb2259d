// torch's functions of sizes, given numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "fxjit/fx/interpreter.h"
#include "fxjit/fx/symbolic_trace.h"

namespace fxjit::fx {
namespace TEST_FILE {

// What the interpreter makes of a call that is recorded with these arguments.
Value call(const char* name, const ValueList& args) {
  const auto gm = symbolic_trace([](Value x) { return x; }, {"x"}, "f");
  Graph& graph = gm->graph();
  const NodePtr output = graph.output_node();
  const auto place = graph.inserting_before(output);
  output->set_args({graph.call_function(name, args)});
  return Interpreter(*gm).run({Value(0)});
}

TEST(SizeFunctions, SumsAreOfLists) {
  EXPECT_EQ(call("torch.sym_sum", {Value::list({2, 3, 4})}).as_int(), 9);
  EXPECT_EQ(call("torch.sym_sum", {Value::tuple({-5})}).as_int(), -5);
  EXPECT_EQ(call("torch.sym_sum", {Value::list({})}).as_int(), 0);
}

TEST(SizeFunctions, SumsOfSomethingElseAreErrors) {
  EXPECT_THROW(call("torch.sym_sum", {Value(1), Value(2)}), TypeError);
  EXPECT_THROW(call("torch.sym_sum", {Value(1)}), TypeError);
  EXPECT_THROW(call("torch.sym_sum", {Value::list({1, "a"})}), TypeError);
  EXPECT_THROW(call("torch.sym_sum", {Value::list({1, 2.5})}), TypeError);
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_THROW(call("torch.sym_sum", {Value::list({most, 1})}), OverflowError);
}

TEST(SizeFunctions, TheGreaterAndTheLesserAreFloatsBesideFloats) {
  EXPECT_EQ(call("torch.sym_max", {3, 4}).as_int(), 4);
  EXPECT_EQ(call("torch.sym_min", {3, 4.5}).as_double(), 3.0);
  EXPECT_TRUE(call("torch.sym_min", {3, 4.5}).is_float());
}

}  // namespace TEST_FILE
}  // namespace fxjit::fx
