#include "src/support/memory/working_memory.h"

#include <gtest/gtest.h>

#include <utility>

namespace fxjit::support {
namespace TEST_FILE {

constexpr size_t kSmall = 1 << 10, kLarge = 8 << 20;

TEST(WorkingMemory, ABlockServesCallAfterCall) {
  WorkingMemory memory;
  memory.expect(kLarge);
  auto first = memory.take(kLarge);
  const std::byte* const place = first->data();
  memory.give(std::move(first));
  for (const size_t bytes : {kSmall, kLarge, kSmall}) {
    auto again = memory.take(bytes);
    EXPECT_EQ(again->data(), place);
    memory.give(std::move(again));
  }
  memory.forget(kLarge);
}

TEST(WorkingMemory, CallsAtOneTimeHaveBlocksOfTheirOwn) {
  WorkingMemory memory;
  memory.expect(kLarge);
  auto first = memory.take(kLarge), second = memory.take(kLarge);
  EXPECT_NE(first->data(), second->data());
  memory.forget(kLarge);
}

TEST(WorkingMemory, ABlockThatIsTooSmallGivesWay) {
  WorkingMemory memory;
  memory.expect(kLarge);
  memory.give(memory.take(kSmall));
  auto large = memory.take(kLarge);
  EXPECT_GE(large->size(), kLarge);
  // A little more is asked for, so that the next size needs no other block.
  EXPECT_GT(large->size(), kLarge + kLarge / 8);
  memory.forget(kLarge);
}

TEST(WorkingMemory, WhatNoProgramNeedsIsNotKept) {
  WorkingMemory memory;
  memory.expect(kSmall);
  memory.expect(kLarge);
  memory.give(memory.take(kLarge));
  memory.forget(kLarge);
  auto small = memory.take(kSmall);
  EXPECT_EQ(small->size(), kSmall);
  auto large = memory.take(kLarge);
  memory.give(std::move(large));
  EXPECT_EQ(memory.take(kSmall)->size(), kSmall);
  memory.forget(kSmall);
}

TEST(WorkingMemory, ThatOfTheProcessLivesAsLongAsItsUsers) {
  std::shared_ptr<WorkingMemory> mine = WorkingMemory::shared();
  EXPECT_EQ(mine, WorkingMemory::shared());
  const std::weak_ptr<WorkingMemory> gone = mine;
  mine.reset();
  EXPECT_TRUE(gone.expired());
}

}  // namespace TEST_FILE
}  // namespace fxjit::support
