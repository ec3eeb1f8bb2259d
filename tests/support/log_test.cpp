#include "fxjit/log.h"

#include <gtest/gtest.h>

#include <vector>

namespace fxjit {
namespace {

class Log : public ::testing::Test {
 protected:
  ~Log() override {
    set_log_callback({});
    set_log_level(LogLevel::info);
  }
};

TEST_F(Log, CallbackGetsWhatTheLevelLetsThrough) {
  std::vector<std::string> seen;
  set_log_callback([&](LogLevel level, std::string_view message) {
    seen.push_back(std::to_string(static_cast<int>(level)) +
                   std::string(message));
  });
  log(LogLevel::debug, "a");
  log(LogLevel::info, "b");
  set_log_level(LogLevel::error);
  log(LogLevel::warning, "c");
  log(LogLevel::error, "d");
  EXPECT_EQ(seen, (std::vector<std::string>{"1b", "3d"}));
}

TEST_F(Log, DefaultPrintsWarningsOnly) {
  ::testing::internal::CaptureStderr();
  log(LogLevel::info, "quiet");
  log(LogLevel::warning, "loud");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "fxjit warning: loud\n");
}

TEST_F(Log, CallbackMayReplaceItself) {
  int calls = 0;
  set_log_callback([&](LogLevel, std::string_view) {
    ++calls;
    set_log_callback([](LogLevel, std::string_view) {});
  });
  log(LogLevel::error, "x");
  log(LogLevel::error, "y");
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace fxjit
