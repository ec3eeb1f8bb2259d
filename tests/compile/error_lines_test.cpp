// Errors of model code name the user's line and say what to do, with and
// without compilation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/nn.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::quick;
using testing::random_tensor;
using testing::WarningLog;

template <typename Fn>
std::string error_of(Fn fn) {
  try {
    fn();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::string line(int number) {
  return "error_lines_test.cpp:" + std::to_string(number);
}

struct Net : nn::Custom<Net> {
  Net() : Custom("Net", {"x"}) {
    up = register_module("up", nn::Linear::create(4, 8));
    body = register_module(
        "body",
        nn::Sequential::create(nn::ReLU::create(), nn::Linear::create(8, 4)));
  }
  static constexpr int kUp = __LINE__ + 2, kBody = __LINE__ + 3;
  Value forward(Value x) {
    x = up(x);
    return body(x);
  }
  nn::Ref<nn::Linear> up;
  nn::Ref<nn::Sequential> body;
};

TEST(ErrorLines, LayersNameTheLineThatCallsThem) {
  const auto net = Net::create();
  const Tensor wrong = random_tensor({2, 5});
  const auto names_call =
      AllOf(HasSubstr("2x5 and 4x8"), HasSubstr(line(Net::kUp)));
  EXPECT_THAT(error_of([&] { net(wrong); }), names_call);
  const auto gm = fx::symbolic_trace(net);
  EXPECT_THAT(error_of([&] { gm(wrong); }),
              AllOf(names_call, HasSubstr("%up in up")));
  WarningLog log;
  compile(*gm, quick());
  EXPECT_THAT(error_of([&] { gm(wrong); }),
              AllOf(names_call, HasSubstr("%up in up")));
  EXPECT_EQ(log.count(line(Net::kUp)), 1);
}

TEST(ErrorLines, SequentialStandsInTheLineOfItsCaller) {
  const auto gm = fx::symbolic_trace(Net::create());
  for (const fx::Node* node : gm->graph().nodes())
    if (node->is(fx::Opcode::call_module)) {
      EXPECT_EQ(node->source().line,
                node->target_name() == "up" ? Net::kUp : Net::kBody);
      EXPECT_TRUE(node->source().file.ends_with("error_lines_test.cpp"));
    }
}

TEST(ErrorLines, MissingArgumentsNameTheCall) {
  const auto gm = fx::symbolic_trace(Net::create());
  const int here = __LINE__ + 1;
  const std::string error = error_of([&] { gm(); });
  EXPECT_THAT(error,
              AllOf(HasSubstr("missing 1 required"), HasSubstr(line(here))));
}

TEST(ErrorLines, UndefinedTensorsAreNone) {
  const auto gm = fx::symbolic_trace(Net::create());
  const auto expected = HasSubstr("expected Tensor, got NoneType");
  EXPECT_THAT(error_of([&] { gm(Tensor()); }), expected);
  WarningLog log;
  compile(*gm, quick());
  EXPECT_THAT(error_of([&] { gm(Tensor()); }), expected);
  EXPECT_TRUE(Value(Tensor()).is_none());
}

TEST(ErrorLines, OtherDevicesAreRefused) {
  const Value x = random_tensor({2, 4});
  EXPECT_THAT(error_of([&] { method(x, "to", {"cuda"}); }),
              HasSubstr("[to] device: expected cpu, got cuda"));
  EXPECT_THAT(error_of([&] { method(x, "to", {}, {{"device", "cuda:1"}}); }),
              HasSubstr("got cuda:1"));
  EXPECT_THAT(error_of([&] {
                function("torch.zeros", {Value::list({2})},
                         {{"device", "cuda"}});
              }),
              HasSubstr("[zeros] device: expected cpu, got cuda"));
  EXPECT_TRUE(method(x, "to", {"cpu"}).is_tensor());
  EXPECT_TRUE(method(x, "to", {"cpu:0", DType::f64}).is_tensor());
}

TEST(ErrorLines, UnknownFunctionsAndPasses) {
  EXPECT_THAT(error_of([] { function("torch.no_such", {1}); }),
              AllOf(HasSubstr("[torch.no_such]"), HasSubstr("register_ops")));
  const auto gm = fx::symbolic_trace(Net::create());
  CompileOptions options = quick();
  options.disabled_passes = {"no_such_pass"};
  EXPECT_THAT(error_of([&] { compile(*gm, options); }),
              AllOf(HasSubstr("no_such_pass"), HasSubstr("fuse_attention")));
  EXPECT_THAT(error_of([&] { prepare(*gm, ValueList{1}); }),
              HasSubstr("call compile first"));
}

TEST(ErrorLines, ProxiesHaveNoValues) {
  const auto read = [](Value x) -> Value { return x.as_int(); };
  EXPECT_THAT(error_of([&] { fx::symbolic_trace(read, {"x"}); }),
              HasSubstr("got Proxy, whose value is not known while tracing"));
}

}  // namespace TEST_FILE
}  // namespace fxjit
