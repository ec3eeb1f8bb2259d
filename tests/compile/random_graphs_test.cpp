// Random graphs with writes: the interpreter in double precision against
// compiled code, fused and not, whole and in parts, at each CPU level, on one
// thread and two; results, what the call wrote to its inputs, and which of them
// share memory. A failing graph is reduced and printed as text.
//
// FXJIT_RANDOM_GRAPHS sets the number of graphs, FXJIT_RANDOM_SEED the first
// seed; with FXJIT_RANDOM_PROGRESS each seed is printed before it is tried.
// scripts/random_graphs runs any number of them. FXJIT_RANDOM_EXPORT is a
// folder for what run_random_graphs.py lets torch run.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "fxjit/compile.h"
#include "src/check/evaluation.h"
#include "src/check/reducer.h"
#include "tests/compile/compile_testing.h"
#include "tests/compile/graph_export.h"
#include "tests/compile/random_graph.h"
#include "tests/compile/subprocess.h"

namespace fxjit {
namespace TEST_FILE {

using namespace testing;  // Of this folder, not of GoogleTest.
using namespace checking;
namespace fs = std::filesystem;

constexpr int kShards = 8;
constexpr int64_t kSeeds = 500;

int64_t setting(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atoll(text) : otherwise;
}

struct Configuration {
  CpuLevel level;
  int threads = 1;
  bool fused = true;
  bool parts = false;

  std::string str() const {
    return std::string(cpu_level_name(level)) + ", " + std::to_string(threads) +
           " threads, " + (fused ? "fused" : "unfused") +
           (parts ? ", in parts" : "");
  }
};

std::string failure(const GraphCase& c, const Expected& expected,
                    const Configuration& how) {
  const GraphRun run = c.run();
  CompileOptions options = options_for(how.level, how.threads);
  if (!how.fused) options.disabled_passes = optional_passes();
  // One infinity spoils all elements of its tile in Winograd's transforms.
  if (has_special_inputs(c)) options.convolution = CompileOptions::Convolution::direct;
  try {
    compile(*run.module, options);
    const Value result = run.module->forward(run.inputs);
    const std::string parts = report(*run.module);
    if (parts.find("  interpreter: ") != parts.npos) return parts;
    return difference(outcome_of(result, run), expected);
  } catch (const std::exception& error) {
    return error.what();
  }
}

// Empty for graphs that cannot run: a reducer makes some.
std::string failure(const GraphCase& c, const Configuration& how) {
  try {
    return failure(c, evaluate(c), how);
  } catch (const Error&) {
    return "";
  }
}

void report_failure(const GraphCase& c, uint32_t seed,
                    const Configuration& how) {
  const GraphCase least = reduce_graph(c.copy(), [&](const GraphCase& smaller) {
    return !failure(smaller, how).empty();
  });
  ADD_FAILURE() << "seed " << seed << ", " << how.str() << "\n"
                << failure(least, how) << "\n"
                << least.str();
}

// Every level fused, one of each other kind: seeds take turns.
std::vector<Configuration> configurations(uint32_t seed) {
  const std::vector<CpuLevel> levels = host_levels();
  const CpuLevel first = levels[seed % levels.size()];
  const CpuLevel second = levels[(seed + 1) % levels.size()];
  const int threads = 1 + static_cast<int>(seed / levels.size() % 2);
  return {{first, threads, true, false},
          {second, 3 - threads, true, true},
          {first, 3 - threads, false, false}};
}

void check(uint32_t seed) {
  const GraphCase whole = random_graph(seed);
  const Expected expected = evaluate(whole);
  ASSERT_EQ(difference(expected.interpreted, expected), "")
      << "seed " << seed << ", the interpreter itself\n"
      << whole.str();
  for (const Configuration& how : configurations(seed)) {
    const GraphCase c = how.parts ? in_parts(whole, seed) : whole.copy();
    if (!failure(c, expected, how).empty())
      return report_failure(c, seed, how);
  }
}

class RandomGraphs : public ::testing::TestWithParam<int> {};

TEST_P(RandomGraphs, CompiledGivesTheInterpretersResult) {
  WarningLog quiet;
  const int64_t count = setting("FXJIT_RANDOM_GRAPHS", kSeeds);
  const int64_t first = setting("FXJIT_RANDOM_SEED", 1);
  for (int64_t i = GetParam(); i < count; i += kShards) {
    const auto seed = static_cast<uint32_t>(first + i);
    if (std::getenv("FXJIT_RANDOM_PROGRESS"))
      std::fprintf(stderr, "seed %u\n", seed);
    check(seed);
  }
}

INSTANTIATE_TEST_SUITE_P(Shard, RandomGraphs, ::testing::Range(0, kShards));

// A few of them into a folder of its own, unless one is asked for.
TEST(RandomGraphs, AreExported) {
  const TemporaryFolder own;
  const char* const asked = std::getenv("FXJIT_RANDOM_EXPORT");
  const fs::path folder = asked ? asked : own.path();
  const int64_t first = setting("FXJIT_RANDOM_SEED", 1);
  const int64_t count = asked ? setting("FXJIT_RANDOM_GRAPHS", kSeeds) : 3;
  for (int64_t i = 0; i < count; ++i) {
    const auto seed = static_cast<uint32_t>(first + i);
    const RandomCase c = random_graph(seed);
    // torch's kernels of attention differ in what they make of NaN.
    if (c.special && c.str().find("attention") != std::string::npos) continue;
    export_graph(c, evaluate(c), folder, seed);
    EXPECT_GT(fs::file_size(folder / (std::to_string(seed) + ".json")), 0u);
  }
}

TEST(RandomGraphs, OfAThirdWriteAView) {
  int64_t writing = 0;
  for (uint32_t seed = 1; seed <= kSeeds; ++seed)
    writing += random_graph(seed).view_writes > 0;
  EXPECT_GE(writing * 3, kSeeds);
}

}  // namespace TEST_FILE
}  // namespace fxjit
