#include "src/support/threads/own_stack.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

namespace fxjit::support {
namespace TEST_FILE {

// Not below what ThreadSanitizer gives to every thread.
constexpr size_t kSmall = size_t{256} << 10;

TEST(OwnStack, WhatIsLeftIsKnown) {
  EXPECT_GT(stack_left(), kSmall);
  size_t left = 0;
  { const StackThread thread(kSmall, [&] { left = stack_left(); }); }
  EXPECT_GT(left, 0u);
  EXPECT_LT(left, kSmall);
}

TEST(OwnStack, CompilingStaysWhereThereIsEnough) {
  std::thread::id here;
  run_with_compile_stack([&] { here = std::this_thread::get_id(); });
  EXPECT_EQ(here, std::this_thread::get_id());
}

TEST(OwnStack, CompilingGetsEnoughElsewhere) {
  size_t left = 0;
  bool same = true;
  const StackThread thread(kSmall, [&] {
    const auto caller = std::this_thread::get_id();
    run_with_compile_stack([&] {
      left = stack_left();
      same = std::this_thread::get_id() == caller;
    });
    EXPECT_THROW(
        run_with_compile_stack([] { throw std::logic_error("thrown"); }),
        std::logic_error);
    EXPECT_THROW(run_with_compile_stack([] { throw 42; }), int);
    EXPECT_FALSE(same);
    EXPECT_GE(left, kEnoughStackBytes);
  });
}

}  // namespace TEST_FILE
}  // namespace fxjit::support
