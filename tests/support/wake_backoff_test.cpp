#include "src/support/threads/wake_backoff.h"

#include <gtest/gtest.h>

namespace fxjit::support {
namespace TEST_FILE {

int calls_until_wake(WakeBackoff& backoff) {
  for (int calls = 1; calls <= 1000; ++calls)
    if (backoff.should_wake()) return calls;
  return -1;
}

TEST(WakeBackoff, WakesAlwaysAtFirst) {
  WakeBackoff backoff;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(calls_until_wake(backoff), 1);
}

TEST(WakeBackoff, FutileWakesGrowRarerUpToALimit) {
  WakeBackoff backoff;
  for (int expected : {2, 4, 8, 16, 32, 64, 64, 64}) {
    backoff.report(false);
    EXPECT_EQ(calls_until_wake(backoff), expected);
  }
}

TEST(WakeBackoff, AUsefulWakeEndsIt) {
  WakeBackoff backoff;
  for (int i = 0; i < 10; ++i) backoff.report(false);
  backoff.report(true);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(calls_until_wake(backoff), 1);
}

}  // namespace TEST_FILE
}  // namespace fxjit::support
