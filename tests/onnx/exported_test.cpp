// Models of tests/import as torch's ONNX exporter writes them
// (export_models.py): equal to torch's answers in double precision, by the
// interpreter and compiled, and native throughout.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>

#include "fxjit/compile.h"
#include "fxjit/fx/pytree.h"
#include "fxjit/onnx.h"
#include "fxjit/report.h"
#include "fxjit/safetensors.h"

namespace fxjit::testing_onnx {
namespace TEST_FILE {

namespace fs = std::filesystem;

const fs::path kTests = fs::path(FXJIT_SOURCE_DIR) / "tests";

double relative_difference(const Tensor& got, const Tensor& expected) {
  if (got.sizes() != expected.sizes()) return INFINITY;
  const Tensor a = got.to(DType::f64).contiguous();
  const Tensor b = expected.to(DType::f64).contiguous();
  double error = 0, largest = 1e-6;
  for (int64_t i = 0; i < b.numel(); ++i) {
    error = std::fmax(
        error, std::abs(a.data_as<double>()[i] - b.data_as<double>()[i]));
    largest = std::fmax(largest, std::abs(b.data_as<double>()[i]));
  }
  return error / largest;
}

class Exported : public ::testing::TestWithParam<std::string> {};

TEST_P(Exported, GivesTorchsAnswers) {
  const onnx::Program program =
      onnx::load((kTests / "onnx/models" / (GetParam() + ".onnx")).string());
  std::map<std::string, Tensor> stored;
  for (auto& [name, tensor] : load_safetensors(
           (kTests / "import/models" / (GetParam() + ".safetensors")).string()))
    stored.emplace(name, tensor);
  ValueList inputs;
  for (const auto& input : program.inputs)
    inputs.emplace_back(stored.at(input.path));
  for (const bool compiled : {false, true}) {
    if (compiled) program.module->compile();
    const ValueList leaves = fx::tree_leaves(program.run(inputs));
    for (size_t i = 0; stored.contains("output." + std::to_string(i)); ++i)
      EXPECT_LE(relative_difference(leaves.at(i).as_tensor(),
                                    stored.at("output." + std::to_string(i))),
                1e-5)
          << "output " << i << (compiled ? ", compiled" : ", interpreted");
  }
  EXPECT_TRUE(make_report(*program.module).native());
}

INSTANTIATE_TEST_SUITE_P(All, Exported,
                         ::testing::Values("attention", "bert", "deit", "dynamic",
                                         "gpt2", "mamba", "rotary", "tagger",
                                         "tied"));

// Attention that the exporter has written out is one step for each layer.
TEST(ExportedAttention, IsOneStepAgain) {
  const onnx::Program program =
      onnx::load((kTests / "onnx/models/gpt2.onnx").string());
  program.module->compile();
  (void)program(Tensor::zeros({2, 7}, DType::i64));
  size_t attention = 0;
  for (const ProgramReport& made : make_report(*program.module).programs)
    for (const StepReport& step : made.steps)
      attention += step.label.starts_with("attention");
  EXPECT_EQ(attention, 2u);
}

}  // namespace TEST_FILE
}  // namespace fxjit::testing_onnx
