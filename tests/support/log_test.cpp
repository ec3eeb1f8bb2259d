#include "fxjit/log.h"

#include <gtest/gtest.h>

#include <vector>

namespace fxjit {
namespace TEST_FILE {

class Log : public ::testing::Test {
 protected:
  ~Log() override {
    set_log_callback({});
    set_log_level(LogLevel::warning);
  }
};

TEST_F(Log, CallbackGetsWhatTheLevelLetsThrough) {
  std::vector<std::string> seen;
  set_log_callback([&](LogLevel level, std::string_view message) {
    seen.push_back(std::to_string(static_cast<int>(level)) +
                   std::string(message));
  });
  set_log_level(LogLevel::info);
  log(LogLevel::debug, "a");
  log(LogLevel::info, "b");
  set_log_level(LogLevel::error);
  log(LogLevel::warning, "c");
  log(LogLevel::error, "d");
  EXPECT_EQ(seen, (std::vector<std::string>{"1b", "3d"}));
}

TEST_F(Log, WhatACallbackThrowsIsPrinted) {
  set_log_callback([](LogLevel, std::string_view) { throw 42; });
  ::testing::internal::CaptureStderr();
  log(LogLevel::warning, "message");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "fxjit warning: message\nfxjit error: the log callback threw: an "
            "exception of type int\n");
}

TEST_F(Log, DefaultPrintsWarningsOnly) {
  ::testing::internal::CaptureStderr();
  log(LogLevel::info, "quiet");
  log(LogLevel::warning, "loud");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "fxjit warning: loud\n");
}

TEST_F(Log, DefaultPrintsWhatWasAskedFor) {
  ::testing::internal::CaptureStderr();
  set_log_level(LogLevel::debug);
  log(LogLevel::debug, "a");
  set_log_level(LogLevel::info);
  log(LogLevel::debug, "b");
  log(LogLevel::info, "c");
  set_log_level(LogLevel::error);
  log(LogLevel::warning, "d");
  log(LogLevel::error, "e");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "fxjit debug: a\nfxjit info: c\nfxjit error: e\n");
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

}  // namespace TEST_FILE
}  // namespace fxjit
