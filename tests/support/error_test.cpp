#include "fxjit/error.h"

#include <gtest/gtest.h>

namespace fxjit {
namespace TEST_FILE {

TEST(Error, TextEndsWithThePlaceWhenKnown) {
  EXPECT_STREQ(UserError("plain").what(), "plain");
  ErrorContext context;
  context.op = "add";
  context.source = std::source_location::current();
  context.module_path = "layers.0";
  const TypeError error("message", context);
  EXPECT_EQ(error.message(), "message");
  EXPECT_EQ(error.context().op, "add");
  EXPECT_EQ(std::string(error.what()),
            "message\n  at " + context.source.str() + " in layers.0");
  EXPECT_NE(context.source.str().find("error_test.cpp:"), std::string::npos);
}

TEST(Error, KindsAreDistinguished) {
  EXPECT_THROW(throw TraceError("x"), UserError);
  EXPECT_THROW(throw RuntimeError("x"), Error);
  const auto broken = [] { FXJIT_CHECK(1 + 1 == 3, "sum"); };
  try {
    broken();
    FAIL();
  } catch (const InternalError& error) {
    EXPECT_NE(error.message().find("1 + 1 == 3"), std::string::npos);
    EXPECT_NE(error.message().find("sum"), std::string::npos);
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
