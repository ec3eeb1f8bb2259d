// Functions of the user's that throw anything at all, from wherever the library
// calls them: the shape stays with the interpreter, or the call throws what
// they throw; the process goes on, and so does the model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <iostream>
#include <stdexcept>
#include <thread>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/log.h"
#include "fxjit/nn.h"
#include "fxjit/op.h"
#include "tests/compile/compile_testing.h"
#include "tests/compile/subprocess.h"

namespace fxjit {
namespace TEST_FILE {

using testing::batch;
using testing::expect_right;
using ::testing::HasSubstr;
using testing::quick;
using testing::run_child;
using NewShape = CompileOptions::NewShape;

enum class Thrown { nothing, number, text, logic_error, type };
struct OfTheUsers {};

std::atomic<Thrown> thrown = Thrown::nothing;

void maybe_throw() {
  switch (thrown) {
    case Thrown::nothing:
      return;
    case Thrown::number:
      throw 42;
    case Thrown::text:
      throw "text";
    case Thrown::logic_error:
      throw std::logic_error("the user's own");
    case Thrown::type:
      throw OfTheUsers();
  }
}

Value doubled(const Value& x) { return add(x, x); }

Value infer(const ops::OpCall& call) {
  maybe_throw();
  return Tensor::meta(call.tensor(0).sizes(), DType::f32);
}
Value eager(const ops::OpCall& call) { return doubled(call.args[0]); }
Value eager_that_throws(const ops::OpCall& call) {
  maybe_throw();
  return eager(call);
}
Value same_shape(const ops::OpCall& call) {
  return Tensor::meta(call.tensor(0).sizes(), DType::f32);
}
void direct(const ops::OpCall& call, std::span<const Tensor> results) {
  maybe_throw();
  results[0].copy_from(doubled(call.args[0]).as_tensor());
}
Scalar scalar(ScalarBuilder&, const ops::OpCall&, std::span<const Scalar> in) {
  maybe_throw();
  return in[0] + in[0];
}
Value decompose(const ops::OpCall& call) {
  maybe_throw();
  return doubled(call.args[0]);
}

using ops::Lowering;
constexpr ops::OpRow kRows[] = {{.name = "test.infer",
                                 .schema = "input",
                                 .names = "test.infer",
                                 .infer = infer,
                                 .eager = eager},
                                {.name = "test.scalar",
                                 .schema = "input",
                                 .names = "test.scalar",
                                 .lowering = Lowering::scalar,
                                 .eager = eager,
                                 .scalar = scalar},
                                {.name = "test.decompose",
                                 .schema = "input",
                                 .names = "test.decompose",
                                 .lowering = Lowering::decompose,
                                 .infer = same_shape,
                                 .eager = eager,
                                 .decompose = decompose},
                                {.name = "test.eager",
                                 .schema = "input",
                                 .names = "test.eager",
                                 .infer = same_shape,
                                 .eager = eager_that_throws},
                                {.name = "test.direct",
                                 .schema = "input",
                                 .names = "test.direct",
                                 .infer = same_shape,
                                 .direct = direct}};

nn::Ref<fx::GraphModule> calls(const char* name) {
  return fx::symbolic_trace([name](Value x) { return function(name, {x}) + 1; },
                            {"x"}, "f");
}

// While compiling: a reason in the log, and the interpreter.
void expect_interpreted(const char* name, NewShape new_shape) {
  const testing::WarningLog log;
  const auto gm = calls(name);
  CompileOptions options = quick();
  options.new_shape = new_shape;
  compile(*gm, options);
  do {
    expect_right(*gm, batch(3));
  } while (report(*gm).empty());
  EXPECT_THAT(report(*gm), HasSubstr("interpreter: compiling it threw: "));
  EXPECT_EQ(log.count("a call stays with the interpreter: compiling it threw"),
            1);
  // Other shapes may do better.
  const Thrown before = thrown.exchange(Thrown::nothing);
  EXPECT_TRUE(prepare(*gm, batch(4)));
  expect_right(*gm, batch(4));
  thrown = before;
}

// While running: whoever calls gets it, and the next call is right.
void expect_passed_on(const char* name) {
  const Thrown before = thrown.exchange(Thrown::nothing);
  const auto gm = calls(name);
  compile(*gm, quick());
  expect_right(*gm, batch(3));
  thrown = before;
  EXPECT_ANY_THROW(gm->forward(batch(3)));
  thrown = Thrown::nothing;
  expect_right(*gm, batch(3));
  thrown = before;
}

constexpr Thrown kKinds[] = {Thrown::number, Thrown::text, Thrown::logic_error,
                             Thrown::type};

TEST(Child, DISABLED_OpsThatThrow) {
  ops::register_ops(kRows);
  for (const Thrown kind : kKinds) {
    thrown = kind;
    for (const NewShape new_shape : {NewShape::wait, NewShape::behind})
      for (const char* name : {"test.infer", "test.scalar", "test.decompose"})
        expect_interpreted(name, new_shape);
    for (const char* name : {"test.eager", "test.direct"})
      expect_passed_on(name);
  }
}

TEST(Callbacks, OpsMayThrowAnything) {
  const auto result = run_child("OpsThatThrow");
  EXPECT_EQ(result.exit_code, 0) << result.output;
}

TEST(Callbacks, WrappedFunctionsMayThrowAnything) {
  for (const Thrown kind : kKinds) {
    thrown = Thrown::nothing;
    const auto inner = fx::wrap("mine.wrapped", [](Value x) {
      maybe_throw();
      return doubled(x);
    });
    const auto gm = fx::symbolic_trace(
        [&](Value x) { return inner(exp(x)) + 1; }, {"x"}, "f");
    const testing::WarningLog log;  // Of what is interpreted.
    compile(*gm, quick());
    expect_right(*gm, batch(3));
    thrown = kind;
    EXPECT_ANY_THROW(gm->forward(batch(3)));
    EXPECT_ANY_THROW(gm->interpret(batch(3)));
    thrown = Thrown::nothing;
    expect_right(*gm, batch(3));
  }
}

// On the thread that compiles behind calls.
TEST(Child, DISABLED_LogThatThrows) {
  set_log_callback([](LogLevel, std::string_view) {
    thrown = Thrown::number;
    maybe_throw();
  });
  const auto mine = fx::wrap("callbacks_test.same", [](Value x) { return x; });
  const auto gm = fx::symbolic_trace(
      [&](Value x) { return sum(masked_select(mine(exp(x)), x > 0), 0); },
      {"x"}, "f");
  CompileOptions options = quick();
  options.new_shape = NewShape::behind;
  compile(*gm, options);
  while (report(*gm).empty()) expect_right(*gm, batch(3));
  expect_right(*gm, batch(3));
}

TEST(Callbacks, LogsMayThrowAnything) {
  const auto result = run_child("LogThatThrows");
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("a call stays with the interpreter"));
  EXPECT_THAT(result.output, HasSubstr("the log callback threw: an exception"));
}

}  // namespace TEST_FILE
}  // namespace fxjit
