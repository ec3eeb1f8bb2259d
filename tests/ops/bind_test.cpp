#include <gtest/gtest.h>

#include "fxjit/op.h"

namespace fxjit {
namespace TEST_FILE {

Value first(const ops::OpCall& call) { return call[0]; }

constexpr ops::OpRow row(const char* name, const char* schema) {
  return {.name = name,
          .schema = schema,
          .names = "",
          .lowering = ops::Lowering::decompose,
          .decompose = first};
}

constexpr ops::OpRow kRows[] = {
    row("test_plain", "input, other, *, alpha=1"),
    row("test_sizes", "input, *size, flag=True"),
    row("test_one", "input"),
    row("test_three", "a, b, c"),
    row("test_dims",
        "input, dim=None, pad=(1, (2, 'x, y')), low=-inf, eps=1e-05"),
};

const ops::Op& op(const char* name) {
  static const bool registered = [] {
    ops::register_ops(kRows);
    return true;
  }();
  static_cast<void>(registered);
  return ops::get_op(name);
}

std::string bound(const char* name, ValueList args, Kwargs kwargs = {}) {
  return repr(Value::tuple(ops::bind(op(name), args, kwargs)));
}

std::string refusal(const char* name, ValueList args, Kwargs kwargs = {}) {
  try {
    ops::bind(op(name), args, kwargs);
  } catch (const TypeError& error) {
    EXPECT_EQ(error.context().op, name);
    return error.message();
  }
  return "";
}

TEST(Bind, FillsInDefaults) {
  EXPECT_EQ(bound("test_plain", {5, 6}), "(5, 6, 1)");
  EXPECT_EQ(bound("test_plain", {5}, {{"alpha", 3}, {"other", 7}}),
            "(5, 7, 3)");
  EXPECT_EQ(bound("test_dims", {5}),
            "(5, None, (1, (2, 'x, y')), -inf, 1e-05)");
}

TEST(Bind, AcceptsTorchsOtherNames) {
  EXPECT_EQ(bound("test_plain", {}, {{"self", 5}, {"other", 6}}), "(5, 6, 1)");
  EXPECT_EQ(bound("test_dims", {5}, {{"axis", 2}}).substr(0, 6), "(5, 2,");
}

TEST(Bind, CollectsVariadicArguments) {
  EXPECT_EQ(bound("test_sizes", {5, 2, 3}), "(5, (2, 3), True)");
  EXPECT_EQ(bound("test_sizes", {5, Value::list({2, 3})}), "(5, [2, 3], True)");
  EXPECT_EQ(bound("test_sizes", {5}), "(5, (), True)");
  EXPECT_EQ(bound("test_sizes", {5}, {{"size", Value::tuple({1})}}),
            "(5, (1,), True)");
  EXPECT_EQ(bound("test_sizes", {5, -1}, {{"flag", false}}),
            "(5, (-1,), False)");
}

TEST(Bind, RefusesInPythonsWords) {
  EXPECT_EQ(refusal("test_plain", {5}),
            "test_plain() missing 1 required positional argument: 'other'");
  EXPECT_EQ(refusal("test_three", {}),
            "test_three() missing 3 required positional arguments: 'a', 'b', "
            "and 'c'");
  EXPECT_EQ(refusal("test_three", {1}),
            "test_three() missing 2 required positional arguments: 'b' and "
            "'c'");
  EXPECT_EQ(refusal("test_one", {1, 2}),
            "test_one() takes 1 positional argument but 2 were given");
  EXPECT_EQ(refusal("test_dims", {1, 2, 3, 4, 5, 6}),
            "test_dims() takes from 1 to 5 positional arguments but 6 were "
            "given");
  EXPECT_EQ(refusal("test_plain", {1, 2, 3}),
            "test_plain() takes 2 positional arguments but 3 were given");
  EXPECT_EQ(refusal("test_one", {1}, {{"beta", 2}}),
            "test_one() got an unexpected keyword argument 'beta'");
  EXPECT_EQ(refusal("test_one", {1}, {{"input", 2}}),
            "test_one() got multiple values for argument 'input'");
}

}  // namespace TEST_FILE
}  // namespace fxjit
