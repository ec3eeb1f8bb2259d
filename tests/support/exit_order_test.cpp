#include "src/support/threads/exit_order.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

namespace fxjit::support {
namespace TEST_FILE {

struct Noisy {
  ~Noisy() { std::fputs(" static", stderr); }
};

void make_noisy_static() { static Noisy noisy; }

TEST(ExitOrderDeathTest, StaticsStayAndStopsRunLastFirst) {
  EXPECT_EXIT(
      {
        stop_before_statics([] { std::fputs(" first", stderr); });
        stop_before_statics([] { std::fputs(" second", stderr); });
        make_noisy_static();
        std::exit(3);
      },
      ::testing::ExitedWithCode(3), " second first$");
}

// Something that other code wants done at exit; atexit() is redirected here.
void other(int, void*) { std::fputs(" other", stderr); }

TEST(ExitOrderDeathTest, StopsRunBeforeWhatWasThereBefore) {
  EXPECT_EXIT(
      {
        on_exit(other, nullptr);
        stop_before_statics([] { std::fputs(" stop", stderr); });
        on_exit(other, nullptr);
        std::exit(3);
      },
      ::testing::ExitedWithCode(3), " other stop other$");
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
      ::testing::ExitedWithCode(3), " stop$");
}

}  // namespace TEST_FILE
}  // namespace fxjit::support
