// Random graphs that ask for sizes: the program of a kind is, at any sizes that
// its guards hold for, the program of these numbers, and a tuple that breaks a
// guard is of another kind.
//
// FXJIT_SIZED_GRAPHS is the number of graphs, FXJIT_RANDOM_SEED the first seed;
// with FXJIT_RANDOM_PROGRESS each seed is printed before it is tried.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "fxjit/error.h"
#include "tests/sizes/both_ways.h"
#include "tests/sizes/sized_graph.h"

namespace fxjit::testing_sizes {
namespace TEST_FILE {

constexpr int kTuples = 8;
constexpr double kGrowth = 32;  // So that no tensor of sizes alone is large.

int64_t setting(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atoll(text) : otherwise;
}

// A level, threads and sums for each seed.
program::PlanOptions options_for(uint32_t seed) {
  constexpr CpuLevel kLevels[] = {CpuLevel::avx2, CpuLevel::avx512,
                                  CpuLevel::sse41};
  return plan_options(kLevels[seed % 3], 1 + static_cast<int>(seed / 3 % 2),
                      seed % 5 == 0);
}

std::string failure(uint32_t seed, Seen& seen) {
  const auto c = sized_graph(seed);
  if (!c || c->writes) return "";
  const testing::GraphRun run = c->graph.run();
  BothWays ways(*run.module, c->graph.inputs, c->naming, options_for(seed));
  std::string text;
  try {
    text = compare(ways, kTuples, kGrowth, seed, seen);
  } catch (const std::exception& error) {
    text = error.what();
  }
  return text.empty() ? text : text + "\n" + c->graph.str();
}

TEST(SizedGraphs, HaveTheProgramsOfTheirNumbers) {
  const int64_t count = setting("FXJIT_SIZED_GRAPHS", 200);
  const int64_t first = setting("FXJIT_RANDOM_SEED", 1);
  Seen seen;
  int failures = 0;
  for (int64_t i = 0; i < count; ++i) {
    const auto seed = static_cast<uint32_t>(first + i);
    if (std::getenv("FXJIT_RANDOM_PROGRESS"))
      std::fprintf(stderr, "seed %u\n", seed);
    const std::string text = failure(seed, seen);
    if (text.empty()) continue;
    ADD_FAILURE() << "seed " << seed << ": " << text;
    if (++failures == 5) break;
  }
  std::printf("%d tuples of kinds, %d of others, %d of %d guards broken\n",
              seen.tuples, seen.refused, seen.broken, seen.guards);
  EXPECT_GT(seen.tuples, count);
  EXPECT_GT(seen.refused, count / 2);
}

}  // namespace TEST_FILE
}  // namespace fxjit::testing_sizes
