#include "fxjit/nn/signature.h"

#include <gtest/gtest.h>

namespace fxjit::nn {
namespace TEST_FILE {

template <typename E, typename Fn>
std::string message_of(Fn fn) {
  try {
    fn();
  } catch (const E& error) {
    return error.message();
  }
  return "no error";
}

TEST(KeywordOnlyArguments, BindsAsPythonDoes) {
  const Signature signature{"x", "*", "y", {"scale", 2}};
  ASSERT_EQ(signature.size(), 3u);
  EXPECT_FALSE(signature.args()[0].keyword_only);
  EXPECT_TRUE(signature.args()[1].keyword_only);
  const auto bound = signature.bind({1}, {{"y", 5}}, "M.forward");
  EXPECT_EQ(repr(Value::list({bound.begin(), bound.end()})), "[1, 5, 2]");
  const auto message = [&](ValueList args, Kwargs kwargs) {
    return message_of<TypeError>(
        [&] { signature.bind(args, kwargs, "M.forward"); });
  };
  EXPECT_EQ(message({1, 2}, {}),
            "M.forward() takes 2 positional arguments but 3 were given");
  EXPECT_EQ(message({1, 2}, {{"y", 3}}),
            "M.forward() takes 2 positional arguments but 3 positional "
            "arguments (and 1 keyword-only argument) were given");
  EXPECT_EQ(message({1, 2, 3}, {{"y", 3}, {"scale", 1}}),
            "M.forward() takes 2 positional arguments but 4 positional "
            "arguments (and 2 keyword-only arguments) were given");
  EXPECT_EQ(message({1}, {}),
            "M.forward() missing 1 required keyword-only argument: 'y'");
  EXPECT_EQ(message({}, {}),
            "M.forward() missing 1 required positional argument: 'x'");
  EXPECT_EQ(message({1, 2, 3}, {{"z", 1}}),
            "M.forward() got an unexpected keyword argument 'z'");
}

TEST(KeywordOnlyArguments, BehindCollectedArguments) {
  const Signature signature{"x", "*rest", "y", "**more"};
  const auto bound = signature.bind({1, 2, 3}, {{"y", 5}, {"z", 6}}, "f");
  EXPECT_EQ(repr(Value::list({bound.begin(), bound.end()})),
            "[1, (2, 3), 5, {'z': 6}]");
  EXPECT_EQ(message_of<TypeError>([&] { signature.bind({1, 2}, {}, "f"); }),
            "f() missing 1 required keyword-only argument: 'y'");
}

TEST(KeywordOnlyArguments, DeclarationsArePythons) {
  const auto declare = [](std::vector<ArgSpec> args) {
    return message_of<SyntaxError>([&] { Signature s(std::move(args)); });
  };
  EXPECT_EQ(declare({"x", "*"}), "named arguments must follow bare *");
  EXPECT_EQ(declare({"*", "**k"}), "named arguments must follow bare *");
  EXPECT_EQ(declare({"*", "*", "x"}), "* argument may appear only once");
  EXPECT_EQ(declare({"*a", "*", "x"}), "* argument may appear only once");
  EXPECT_EQ(declare({"*", "x", "*a"}), "* argument may appear only once");
  EXPECT_EQ(declare({"**k", "*", "x"}),
            "arguments cannot follow var-keyword argument");
  EXPECT_EQ(declare({{"x", 1}, "*", "y", {"z", 2}, "w"}), "no error");
}

}  // namespace TEST_FILE
}  // namespace fxjit::nn
