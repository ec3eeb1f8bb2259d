// Interpreted calls of a branch compare it with the other one: once for the
// same sizes, and without harm where the other one fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/log.h"

namespace fxjit {
namespace TEST_FILE {

using ::testing::HasSubstr;

Value pair(const Value& a, const Value& b) { return Value::tuple({a, b}); }
Value one(const Value& a) { return Value::tuple({a}); }
Value flag(bool value) { return Tensor::full({}, value, DType::boolean); }

// A graph module that counts its calls.
class CountedGraph : public fx::GraphModule {
 public:
  explicit CountedGraph(const fx::GraphModule& of)
      : GraphModule(of, of.graph().copy()) {}
  Value invoke(const ValueList& args, const Kwargs& kwargs) override {
    ++calls;
    return GraphModule::invoke(args, kwargs);
  }
  int calls = 0;
};

// Puts a counted copy in the place of the branch that is `owner.name`.
std::shared_ptr<CountedGraph> counted_branch(nn::Module& owner,
                                             const std::string& name) {
  auto counted = std::make_shared<CountedGraph>(
      dynamic_cast<fx::GraphModule&>(owner.get_submodule(name)));
  owner.register_module(name, counted);
  return counted;
}

Value more_or_twice(Value p, Value x) {
  return cond(
      p, [](Value x) { return x + 1; }, [](Value x) { return x * 2; }, {x});
}

TEST(OtherBranches, AreLookedForOnceForTheSameSizes) {
  const auto gm = fx::symbolic_trace(more_or_twice, {"p", "x"});
  const auto other = counted_branch(*gm, "false_graph_0");
  const auto call = [&gm](int64_t size, DType dtype = DType::f32) {
    gm->call({flag(true), Tensor::full({size}, 1, dtype)});
  };
  for (int i = 0; i < 3; ++i) call(2);
  EXPECT_EQ(other->calls, 1);
  for (int i = 0; i < 3; ++i) call(3);
  EXPECT_EQ(other->calls, 2);
  call(3, DType::f64);
  EXPECT_EQ(other->calls, 3);
  for (int64_t size = 10; size < 40; ++size) call(size);
  EXPECT_EQ(other->calls, 33);
  call(39);
  EXPECT_EQ(other->calls, 33);
  call(2);  // More sizes came than are remembered.
  EXPECT_EQ(other->calls, 34);
}

TEST(OtherBranches, AreLookedForOnceInALoop) {
  const auto gm = fx::symbolic_trace(
      [](Value x) {
        return while_loop(
            [](Value x) { return method(x, "sum") < 20.0; },
            [](Value x) {
              return one(more_or_twice(method(x, "sum") > 0.0, x));
            },
            {x});
      },
      {"x"});
  const auto other = counted_branch(
      gm->get_submodule("while_loop_body_graph_0"), "false_graph_0");
  for (int call = 0; call < 2; ++call)
    EXPECT_EQ(gm->call({Tensor::full({2}, 1)}).at(0).as_tensor().to_floats()[0],
              10);
  EXPECT_EQ(other->calls, 1);
}

// What the library logs while it lives.
class LogScope {
 public:
  LogScope() {
    set_log_callback([this](LogLevel, std::string_view message) {
      messages.emplace_back(message);
    });
  }
  ~LogScope() { set_log_callback({}); }
  LogScope(const LogScope&) = delete;
  LogScope& operator=(const LogScope&) = delete;
  std::vector<std::string> messages;
};

// A branch that fails for these sizes fails when it is taken.
TEST(OtherBranches, FailuresOfTheOtherBranchAreLoggedOnce) {
  const Tensor weight = Tensor::full({3, 3}, 1);
  const auto gm = fx::symbolic_trace(
      [weight](Value p, Value x) {
        return cond(
            p, [](Value x) { return x + 1; },
            [weight](Value x) { return matmul(x, weight); }, {x});
      },
      {"p", "x"});
  const Value x = Tensor::full({2, 2}, 1);
  const LogScope log;
  for (int call = 0; call < 2; ++call)
    EXPECT_EQ(gm->call({flag(true), x}).as_tensor().to_floats()[0], 2);
  ASSERT_EQ(log.messages.size(), 1u);
  EXPECT_THAT(log.messages[0], HasSubstr("the branches were not compared: "));
  EXPECT_THROW(gm->call({flag(false), x}), Error);
}

// A loop that counts with numbers of its own runs without the data of the call.
TEST(OtherBranches, EndlessLoopsOfTheOtherBranchAreLeft) {
  const auto gm = fx::symbolic_trace(
      [](Value p, Value x) {
        return cond(
            p, [](Value x) { return x + 1; },
            [](Value x) {
              return getitem(
                  while_loop(
                      [](Value i, Value) { return i < 1e9; },
                      [](Value i, Value x) { return pair(i * 1, x + 1); },
                      {method(x, "sum"), x}),
                  1);
            },
            {x});
      },
      {"p", "x"});
  auto& branch =
      dynamic_cast<fx::GraphModule&>(gm->get_submodule("false_graph_0"));
  const fx::NodePtr sum = branch.graph().find_node("sum_1");
  {
    const auto before = branch.graph().inserting_before(sum);
    sum->replace_all_uses_with(
        branch.graph().call_function("torch.zeros", {Value::list({})}));
  }
  branch.graph().erase_node(sum);
  branch.recompile();
  const Value x = Tensor::full({2}, 1);
  const LogScope log;
  EXPECT_EQ(gm->call({flag(true), x}).as_tensor().to_floats()[0], 2);
  ASSERT_EQ(log.messages.size(), 1u);
  EXPECT_THAT(log.messages[0], HasSubstr("iterations: expected at most"));
}

}  // namespace TEST_FILE
}  // namespace fxjit
