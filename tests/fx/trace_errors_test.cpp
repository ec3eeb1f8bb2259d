// Errors of traced code: torch's texts, and the user's line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/fx/symbolic_trace.h"
#include "fxjit/nn/linear.h"

namespace fxjit::fx {
namespace TEST_FILE {

using ::testing::HasSubstr;

template <typename F>
nn::Ref<GraphModule> trace1(F function) {
  return symbolic_trace(function, {"x"}, "f");
}

template <typename E, typename F>
std::pair<std::string, SourceLocation> error_of(F function) {
  try {
    trace1(function);
  } catch (const E& error) {
    return {error.message(), error.context().source};
  }
  return {"no error", {}};
}

TEST(TraceErrors, ControlFlow) {
  int line = 0;
  const auto [message, source] = error_of<TraceError>([&](Value x) -> Value {
    line = __LINE__ + 1;
    const Value positive = x > 0;
    return positive ? x : -x;
  });
  EXPECT_EQ(source.line, line);  // Of the condition: bool() has no line.
  EXPECT_EQ(message,
            "symbolically traced variables cannot be used as inputs to control "
            "flow");
}

TEST(TraceErrors, IterationAndLength) {
  EXPECT_THAT(
      error_of<TraceError>([](Value x) -> Value {
        return Value::list(iterate(x));
      }).first,
      HasSubstr("Proxy object cannot be iterated. This can be attempted "
                "when the Proxy is used in a loop or as a *args or "
                "**kwargs function argument."));
  int line = 0;
  const auto [message, source] = error_of<RuntimeError>([&](Value x) -> Value {
    line = __LINE__ + 1;
    return len(x);
  });
  EXPECT_THAT(message, HasSubstr("'len' is not supported in symbolic tracing"));
  EXPECT_EQ(source.line, line);
}

TEST(TraceErrors, DictKeys) {
  EXPECT_EQ(error_of<RuntimeError>([](Value x) -> Value {
              return Value::dict({{Value::tuple({x, 1}), 2}});
            }).first,
            "Keys for dictionaries used as an argument cannot contain a Node. "
            "Got key: x");
}

TEST(TraceErrors, OpaqueArguments) {
  struct Thing : Counted {};
  EXPECT_THAT(error_of<NotImplementedError>([](Value x) -> Value {
                return Value::tuple({x, Value::opaque(new Thing)});
              }).first,
              HasSubstr("argument of type: "));
}

TEST(TraceErrors, ModulesOutsideOfTheRoot) {
  const auto stranger = nn::Linear::create(2, 2);
  EXPECT_EQ(error_of<NameError>([&](Value x) { return stranger(x); }).first,
            "module is not installed as a submodule");
}

TEST(TraceErrors, LeaveTheThreadClean) {
  const auto linear = nn::Linear::create(3, 2);
  EXPECT_THROW(trace1([](Value x) -> Value { return Value(bool(x)); }),
               TraceError);
  EXPECT_EQ(active_tracer(), nullptr);
  EXPECT_TRUE(linear(Tensor::zeros({2, 3})).is_tensor());
}

}  // namespace TEST_FILE
}  // namespace fxjit::fx
