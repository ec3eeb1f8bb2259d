// Random graphs as text and as files, and random damage to the files of
// compiled code.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fx/archive.h"
#include "fxjit/fx/text.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "tests/compile/compile_testing.h"
#include "tests/compile/random_graph.h"
#include "tests/compile/subprocess.h"

namespace fxjit {
namespace TEST_FILE {

using namespace testing;  // Of this folder, not of GoogleTest.
namespace fs = std::filesystem;

constexpr uint32_t kGraphs = 200;
constexpr uint32_t kArchives = 60;  // Each file is flushed to the disk.

std::string read_bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_bytes(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

TEST(RandomText, ReadsAsTheSameGraph) {
  for (uint32_t seed = 1; seed <= kGraphs; ++seed) {
    const GraphCase made = random_graph(seed);
    const std::string written = fx::text(*made.graph, {.meta = true});
    const auto parsed = fx::parse_graph(written);
    parsed->lint();
    ASSERT_EQ(fx::text(*parsed, {.meta = true}), written) << "seed " << seed;
    ASSERT_EQ(parsed->str(), made.graph->str()) << "seed " << seed;
  }
}

TEST(RandomArchives, AreWrittenAgainByteByByte) {
  const TemporaryFolder folder;
  const std::string first = folder.path() + "/first.safetensors";
  const std::string second = folder.path() + "/second.safetensors";
  for (uint32_t seed = 1; seed <= kArchives; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const GraphCase made = random_graph(seed);
    const GraphRun run = made.run();
    fx::save(*run.module, first);
    const auto loaded = fx::load(first);
    fx::save(*loaded, second);
    ASSERT_TRUE(read_bytes(first) == read_bytes(second));
    ASSERT_EQ(value_difference(loaded->forward(made.run().inputs),
                               run.module->forward(run.inputs), 0, 0),
              "");
  }
}

// One byte of `bytes` changed, or its end cut off.
std::string damaged(std::string bytes, std::mt19937& random) {
  const size_t at = random() % bytes.size();
  if (random() % 3 == 0) return bytes.substr(0, at);
  bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
  return bytes;
}

// A folder that the process has not seen, so that nothing comes from memory.
std::string damaged_copy(const std::string& good, int round, size_t damages,
                         std::mt19937& random) {
  const std::string folder = good + "-" + std::to_string(round);
  fs::copy(good, folder);
  std::vector<fs::path> entries;
  for (const auto& entry : fs::directory_iterator(folder))
    entries.push_back(entry.path());
  std::sort(entries.begin(), entries.end());
  std::shuffle(entries.begin(), entries.end(), random);
  entries.resize(std::min(entries.size(), damages));
  for (const fs::path& entry : entries)
    write_bytes(entry, damaged(read_bytes(entry), random));
  return folder;
}

// A product, attention, a softmax and a convolution: a kernel of each kind.
nn::Ref<fx::GraphModule> kernels_of_each_kind() {
  namespace F = nn::functional;
  return fx::symbolic_trace(
      [w = random_tensor({24, 16}),
       c = random_tensor({16, 16, 3, 3})](Value x) -> Value {
        const Value rows = F::gelu(F::linear(x, w));
        const Value q = chunk(rows, 3, -1);
        const Value y = F::scaled_dot_product_attention(
            getitem(q, 0), getitem(q, 1), getitem(q, 2));
        const Value images = F::conv2d(reshape(x, {1, 16, 8, 6}), c);
        return Value::tuple({softmax(y, -1), relu(images), sum(y, {1})});
      },
      {"x"}, "f");
}

// Any number of damaged entries: those kernels are made anew.
TEST(RandomDamage, CodeOnDiskIsMadeAnew) {
  const TemporaryFolder folder;
  const ValueList inputs{random_tensor({1, 48, 16})};
  const auto run = [&](const std::string& cache) {
    const auto gm = kernels_of_each_kind();
    CompileOptions options = options_for(host_cpu_level());
    options.cache_folder = cache;
    compile(*gm, options);
    EXPECT_EQ(value_difference(gm->forward(inputs), gm->interpret(inputs), 1e-4,
                               1e-4),
              "");
    return profile(*gm, inputs, 1).from_disk_cache;
  };
  const std::string good = folder.path() + "/good";
  EXPECT_FALSE(run(good));
  std::mt19937 random(1);
  EXPECT_TRUE(run(damaged_copy(good, 0, 0, random)));
  for (int round = 1; round <= 12; ++round)
    run(damaged_copy(good, round, static_cast<size_t>(round), random));
  EXPECT_FALSE(run(damaged_copy(good, 13, SIZE_MAX, random)));
}

}  // namespace TEST_FILE
}  // namespace fxjit
