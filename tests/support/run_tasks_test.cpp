#include "src/support/threads/run_tasks.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

namespace fxjit::support {
namespace TEST_FILE {

TEST(RunTasks, RunsEachOnce) {
  for (int threads : {-1, 0, 1, 2, 9}) {
    for (size_t count : {size_t{0}, size_t{1}, size_t{7}, size_t{100}}) {
      std::vector<std::atomic<int>> runs(count);
      run_tasks(count, threads, [&](size_t i) { ++runs[i]; });
      for (const auto& n : runs) EXPECT_EQ(n, 1);
    }
  }
}

TEST(RunTasks, OneThreadKeepsTheOrder) {
  std::vector<size_t> order;
  run_tasks(5, 1, [&](size_t i) { order.push_back(i); });
  EXPECT_EQ(order, (std::vector<size_t>{0, 1, 2, 3, 4}));
}

TEST(RunTasks, ThrowsTheFirstFailureWhenAllHaveEnded) {
  for (int threads : {1, 3}) {
    std::atomic<int> runs = 0;
    std::string what = "none";
    try {
      run_tasks(20, threads, [&](size_t i) {
        ++runs;
        if (i == 17 || i == 4) throw std::runtime_error(std::to_string(i));
      });
    } catch (const std::runtime_error& error) {
      what = error.what();
    }
    EXPECT_EQ(what, "4");
    EXPECT_EQ(runs, 20);
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit::support
