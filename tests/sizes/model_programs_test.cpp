// Models from files that name sizes: the program of a kind is the program of
// the numbers, on both sides of its guards.
#include <gtest/gtest.h>

#include <filesystem>

#include "fxjit/error.h"
#include "fxjit/onnx.h"
#include "fxjit/safetensors.h"
#include "src/compile/input_sizes.h"
#include "tests/import/model_cases.h"
#include "tests/sizes/both_ways.h"

namespace fxjit::testing_sizes {
namespace TEST_FILE {

constexpr int kTuples = 8;
constexpr double kGrowth = 1e6;

// The names that a first call gives; nothing if none is declared.
std::optional<SizeNaming> naming_of(const fx::Graph& graph,
                                    const ValueList& inputs) {
  const DeclaredInputs declared(graph, {});
  if (!declared.any()) return std::nullopt;
  const auto sized = sizes_of(inputs, declared.of(inputs));
  SizeKinds kinds(size_t{1} << 30);
  return sized ? kinds.note(*sized) : std::nullopt;
}

// Whether sizes of the model have names.
bool check(const std::string& name, const fx::GraphModule& module,
           const ValueList& inputs, Seen& seen) {
  const auto naming = naming_of(module.graph(), inputs);
  if (!naming) return false;
  for (const int threads : {1, 2}) {
    BothWays ways(module, inputs, *naming,
                  plan_options(CpuLevel::avx2, threads, threads == 2));
    try {
      EXPECT_EQ(compare(ways, kTuples, kGrowth, 1, seen), "") << name;
    } catch (const Error& error) {
      ADD_FAILURE() << name << ": " << error.what();
    }
  }
  return true;
}

TEST(SizedModels, HaveTheProgramsOfTheirNumbers) {
  Seen seen;
  int models = 0;
  for (const std::string& name : testing_import::model_names()) {
    const testing_import::ModelCase one = testing_import::read_case(name);
    const auto [args, kwargs] = one.program.arguments_of(one.inputs);
    models +=
        check(name, *one.program.module, one.program.bind(args, kwargs), seen);
  }
  EXPECT_GE(models, 3);
  EXPECT_GT(seen.tuples, 5 * models);
  EXPECT_GT(seen.refused, models);
}

TEST(SizedModels, OfOnnxHaveTheProgramsOfTheirNumbers) {
  const std::filesystem::path tests =
      std::filesystem::path(FXJIT_SOURCE_DIR) / "tests";
  Seen seen;
  int models = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(tests / "onnx/models")) {
    const std::string name = entry.path().stem().string();
    const onnx::Program program = onnx::load(entry.path().string());
    std::map<std::string, Tensor> stored;
    for (auto& [key, tensor] : load_safetensors(
             (tests / "import/models" / (name + ".safetensors")).string()))
      stored.emplace(key, tensor);
    ValueList inputs;
    for (const auto& input : program.inputs)
      inputs.emplace_back(stored.at(input.path));
    models += check(name, *program.module, inputs, seen);
  }
  EXPECT_GE(models, 2);
  EXPECT_GT(seen.tuples, 5 * models);
}

}  // namespace TEST_FILE
}  // namespace fxjit::testing_sizes
