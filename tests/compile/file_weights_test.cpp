// Weights that lie in a file: beside what is packed of them no copy stays in
// memory, and who loads the file again shares what is packed.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "fxjit/functions.h"
#include "fxjit/functions_structured.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "fxjit/safetensors.h"
#include "tests/compile/compile_testing.h"
#include "tests/compile/process_memory.h"
#include "tests/compile/subprocess.h"
#include "tests/support/sanitizers.h"

namespace fxjit {
namespace TEST_FILE {

namespace F = nn::functional;
using testing::anonymous_memory;
using testing::quick;
using testing::random_tensor;
using testing::run_child;

constexpr size_t kMega = size_t{1} << 20;
constexpr int64_t kChannels = 1536;
constexpr int kLayers = 9;

std::string name_of(const char* kind, int layer) {
  return kind + std::to_string(layer);
}

void write_weights(const std::string& file, int64_t channels, int layers) {
  NamedTensors weights;
  for (int i = 0; i < layers; ++i) {
    weights.emplace_back(name_of("weight", i),
                         random_tensor({channels, channels, 1, 1}));
    weights.emplace_back(name_of("mean", i), random_tensor({channels}));
    weights.emplace_back(name_of("var", i), Tensor::full({channels}, 700));
  }
  save_safetensors(file, weights);
}

// Convolutions with batch norms behind them.
nn::Ref<fx::GraphModule> model_of(const std::string& file, int layers) {
  const NamedTensors named = load_safetensors(file);
  const std::map<std::string, Tensor> weights(named.begin(), named.end());
  return fx::symbolic_trace(
      [&](Value x) {
        for (int i = 0; i < layers; ++i) {
          x = F::conv2d(x, weights.at(name_of("weight", i)));
          x = F::batch_norm(x, weights.at(name_of("mean", i)),
                            weights.at(name_of("var", i)));
        }
        return x;
      },
      {"x"}, "norms");
}

TEST(Child, DISABLED_WeightsOfAFile) {
  const testing::TemporaryFolder folder;
  const std::string file = folder.path() + "/weights.safetensors";
  write_weights(file, kChannels, kLayers);
  const size_t before = anonymous_memory();
  const auto first = model_of(file, kLayers);
  compile(*first, quick());
  const Tensor x = random_tensor({1, kChannels, 4, 4});
  const Value expected = first->forward({x});
  const Profile profile = fxjit::profile(*first, ValueList{x}, 1);
  const size_t one = anonymous_memory() - before;
  const size_t weights = kLayers * kChannels * kChannels * sizeof(float);
  EXPECT_GE(profile.packed_bytes, weights) << report(*first);
  EXPECT_LE(one / kMega,
            (profile.packed_bytes + profile.arena_bytes + 40 * kMega) / kMega)
      << report(*first);

  const auto second = model_of(file, kLayers);
  compile(*second, quick());
  EXPECT_EQ(second->forward({x}).as_tensor().to_floats(),
            expected.as_tensor().to_floats());
  EXPECT_LE((anonymous_memory() - before) / kMega, (one + 20 * kMega) / kMega);
  EXPECT_EQ(fxjit::profile(*second, ValueList{x}, 1).packed_bytes,
            profile.packed_bytes);
}

TEST(FileWeights, AreKeptOnce) {
  if (testing::kSanitizer) GTEST_SKIP() << testing::kFreedIsKept;
  const auto result = run_child("WeightsOfAFile");
  EXPECT_EQ(result.exit_code, 0) << result.output;
}

TEST(FileWeights, OfAnotherFileInTheSamePlaceAreOthers) {
  const testing::TemporaryFolder folder;
  const std::string file = folder.path() + "/weights.safetensors";
  const Tensor x = random_tensor({1, 8, 3, 3});
  for (int round = 0; round < 3; ++round) {
    write_weights(file, 8, 2);
    const auto gm = model_of(file, 2);
    compile(*gm, quick());
    testing::expect_right(*gm, {x});
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
