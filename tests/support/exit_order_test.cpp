#include "src/support/exit_order.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

namespace fxjit::support {
namespace {

struct Noisy {
  ~Noisy() { std::fputs(" static", stderr); }
};

void make_noisy_static() { static Noisy noisy; }

TEST(ExitOrderDeathTest, StopsRunBeforeStaticsMadeLater) {
  EXPECT_EXIT(
      {
        stop_before_statics([] { std::fputs(" first", stderr); });
        stop_before_statics([] { std::fputs(" second", stderr); });
        make_noisy_static();
        std::exit(3);
      },
      ::testing::ExitedWithCode(3), " second first static");
}

TEST(ExitOrderDeathTest, AStopMayMakeStatics) {
  EXPECT_EXIT(
      {
        stop_before_statics([] {
          std::fputs(" stop", stderr);
          make_noisy_static();
        });
        std::exit(3);
      },
      ::testing::ExitedWithCode(3), " stop static");
}

}  // namespace
}  // namespace fxjit::support
