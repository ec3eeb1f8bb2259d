#include "src/support/memory/spare_slots.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>

namespace fxjit::support {
namespace TEST_FILE {

TEST(SpareSlots, KeepsAsManyAsItHasSlots) {
  static std::atomic<int> alive;
  struct Counted {
    Counted() { ++alive; }
    ~Counted() { --alive; }
  };
  {
    SpareSlots<Counted, 2> spare;
    EXPECT_FALSE(spare.take());
    for (int i = 0; i < 3; ++i) spare.give(std::make_unique<Counted>());
    EXPECT_EQ(alive, 2);
    const auto one = spare.take(), two = spare.take();
    EXPECT_TRUE(one && two);
    EXPECT_FALSE(spare.take());
  }
  EXPECT_EQ(alive, 0);
}

}  // namespace TEST_FILE
}  // namespace fxjit::support
