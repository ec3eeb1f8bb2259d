// Results whose sizes or values depend on the data, and indices that no tensor
// takes: computed by the interpreter, or a typed error at the user's line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::quick;
using testing::random_tensor;
using testing::WarningLog;

template <typename E, typename Fn>
std::string error_of(Fn fn) {
  try {
    fn();
  } catch (const E& error) {
    return error.what();
  }
  return "no error of this type";
}

std::string line(int number) {
  return "unknown_sizes_test.cpp:" + std::to_string(number);
}

// The error of calling `gm`, interpreted and compiled.
template <typename E>
void expect_error(fx::GraphModule& gm, const ValueList& inputs,
                  const ::testing::Matcher<std::string>& matches) {
  EXPECT_THAT(error_of<E>([&] { gm.interpret(inputs); }), matches);
  WarningLog log;
  compile(gm, quick());
  EXPECT_THAT(error_of<E>([&] { gm.forward(inputs); }), matches);
}

TEST(UnknownSizes, OneEllipsisToAnIndex) {
  const char* const text = "an index can only have a single ellipsis ('...')";
  const Tensor x = random_tensor({3, 4, 5});
  EXPECT_THAT(error_of<IndexError>([&] { getitem(x, Ellipsis, 0, Ellipsis); }),
              HasSubstr(text));
  EXPECT_EQ(getitem(x, 0, Ellipsis).as_tensor().sizes(), (Dims{4, 5}));
  const int here = __LINE__ + 2;
  const auto gm = fx::symbolic_trace(
      [](Value v) { return getitem(v * 2, Ellipsis, 1, Ellipsis); }, {"v"},
      "f");
  expect_error<IndexError>(
      *gm, {x},
      AllOf(HasSubstr(text), HasSubstr("%getitem"), HasSubstr(line(here))));
}

TEST(UnknownSizes, MaskedSelectIsInterpreted) {
  const auto gm = fx::symbolic_trace(
      [](Value v) { return sum(exp(masked_select(v * 2, v > 0)), 0); }, {"v"},
      "f");
  WarningLog log;
  compile(*gm, quick());
  for (uint32_t seed : {1u, 2u, 3u})
    testing::expect_right(*gm, {random_tensor({5, 7}, DType::f32, seed)});
  testing::expect_right(*gm, {Tensor::zeros({5, 7})});
  testing::expect_right(*gm, {Tensor::zeros({0, 7})});
  EXPECT_THAT(report(*gm), HasSubstr("masked_select"));
}

TEST(UnknownSizes, BoolMasksAsIndices) {
  const auto gm = fx::symbolic_trace(
      [](Value v) { return getitem(v + 1, v > 0) * 3; }, {"v"}, "f");
  WarningLog log;
  compile(*gm, quick());
  for (uint32_t seed : {1u, 2u, 3u})
    testing::expect_right(*gm, {random_tensor({5, 7}, DType::f32, seed)});
  testing::expect_right(*gm, {Tensor::zeros({5, 7})});
}

// `gm` compiled, on several inputs: right, native around the call of `name`,
// which is reported.
void expect_interpreted(fx::GraphModule& gm, const char* name) {
  WarningLog log;
  compile(gm, quick());
  for (uint32_t seed : {1u, 2u, 3u})
    testing::expect_right(gm, {random_tensor({5, 7}, DType::f32, seed)});
  testing::expect_right(gm, {Tensor::full({5, 7}, 2)});
  EXPECT_THAT(report(gm), HasSubstr(name));
}

TEST(UnknownSizes, NonzeroIsInterpreted) {
  const auto gm = fx::symbolic_trace(
      [](Value v) {
        const Value places = nonzero(v * 2 > 0);
        return getitem(places, Ellipsis, 0) * 3 + getitem(places, Ellipsis, 1);
      },
      {"v"}, "f");
  expect_interpreted(*gm, "nonzero");
  testing::expect_right(*gm, {Tensor::zeros({5, 7})});
  testing::expect_right(*gm, {Tensor::zeros({0, 7})});
}

TEST(UnknownSizes, UniqueIsInterpreted) {
  const auto gm = fx::symbolic_trace(
      [](Value v) {
        const auto found = fx::unpack(unique(floor(v * 2), true, true), 3);
        return exp(found[0]) + found[2] + sum(found[1]);
      },
      {"v"}, "f");
  expect_interpreted(*gm, "unique");
  testing::expect_right(*gm, {Tensor::zeros({5, 7})});
}

TEST(UnknownSizes, NumbersOfTensorsAreInterpreted) {
  const auto gm = fx::symbolic_trace(
      [](Value v) { return exp(v * item(amax(abs(v), {0, 1}))) + 1; }, {"v"},
      "f");
  expect_interpreted(*gm, "item");
}

TEST(UnknownSizes, MethodsThatDoNotExistNameTheLine) {
  for (const char* name : {"geqrf", "no_such_method"}) {
    const int here = __LINE__ + 2;
    const auto gm = fx::symbolic_trace(
        [=](Value v) { return method(v * 2, name, {}); }, {"v"}, "f");
    expect_error<AttributeError>(
        *gm, {random_tensor({3})},
        AllOf(HasSubstr("object has no attribute '" + std::string(name) + "'"),
              HasSubstr("%" + std::string(name)), HasSubstr(line(here))));
  }
}

// Already while they are traced.
TEST(UnknownSizes, FunctionsThatDoNotExistNameTheLine) {
  for (const char* name : {"torch.geqrf", "torch.no_such_function"}) {
    const int here = __LINE__ + 1;
    const auto calls = [=](Value v) { return function(name, {v * 2}); };
    EXPECT_THAT(
        error_of<UserError>([&] { fx::symbolic_trace(calls, {"v"}, "f"); }),
        AllOf(HasSubstr(name), HasSubstr("no op has this name"),
              HasSubstr(line(here))));
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
