// Programs that torch exported give torch's answers, interpreted and native.
#include "fxjit/pt2.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "fxjit/compile.h"
#include "fxjit/fx/archive.h"
#include "fxjit/safetensors.h"
#include "tests/import/model_cases.h"

namespace fxjit {
namespace {

using namespace testing_import;  // NOLINT: the names of this folder
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Of f32, for models of a few layers; those with weights of half types are
// computed by torch in these types.
double tolerance_of(const std::string& name) {
  return name == "halves" ? 2e-2 : 2e-5;
}

class Models : public testing::TestWithParam<std::string> {};

TEST_P(Models, InterpretedAsTorch) {
  const ModelCase one = read_case(GetParam());
  EXPECT_EQ(difference(one, run(one), tolerance_of(one.name)), "");
}

TEST_P(Models, CompiledAsTorch) {
  const ModelCase one = read_case(GetParam());
  one.program.module->compile();
  EXPECT_EQ(difference(one, run(one), tolerance_of(one.name)), "");
  EXPECT_THAT(one.program.module->report(), Not(IsEmpty()));
}

INSTANTIATE_TEST_SUITE_P(All, Models, testing::ValuesIn(model_names()),
                         [](const auto& info) { return info.param; });

TEST(Pt2, SourceLinesAndModulePaths) {
  const pt2::Program program = pt2::load(model_path("images"));
  const fx::Node* const conv =
      program.module->graph().find_node("conv2d");
  ASSERT_NE(conv, nullptr);
  EXPECT_EQ(conv->module_path(), "conv");
  EXPECT_THAT(std::string(conv->source().file),
              testing::EndsWith("tests/import/make_models.py"));
  EXPECT_THAT(conv->stack_trace(), HasSubstr("in forward"));
}

TEST(Pt2, TiedWeightsAreOneParameter) {
  const pt2::Program program = pt2::load(model_path("tied"));
  const nn::Module& module = *program.module;
  EXPECT_EQ(module.get_parameter("head.weight"),
            module.get_parameter("embed.weight"));
  EXPECT_EQ(module.get_parameter("columns").tensor().strides(), Dims({1, 6}));
  EXPECT_EQ(module.get_buffer("part").tensor().strides(), Dims({6, 1}));
}

TEST(Pt2, StateIsKeptBetweenCalls) {
  const pt2::Program program = pt2::load(model_path("counter"));
  const Tensor x = Tensor::full({4, 3}, 1), cache = Tensor::zeros({4, 2});
  for (const bool compiled : {false, true}) {
    if (compiled) program.module->compile();
    const double before =
        program.module->get_buffer("total").tensor().at({1});
    const Value result = program(x, cache);
    EXPECT_EQ(result.at(0).as_tensor().at({1}), 2 * (before + 4));
    EXPECT_EQ(program.module->get_buffer("total").tensor().at({1}),
              before + 4);
    EXPECT_EQ(cache.at({0, 1}), 1);
  }
  // The file is as it was.
  EXPECT_EQ(pt2::load(model_path("counter"))
                .module->get_buffer("total")
                .tensor()
                .at({1}),
            0);
}

TEST(Pt2, WeightsStayMappedAndAreShared) {
  const auto weight = [](const pt2::Program& program) {
    return program.module->get_parameter("query.weight").tensor();
  };
  const pt2::Program a = pt2::load(model_path("attention"));
  const pt2::Program b = pt2::load(model_path("attention"));
  EXPECT_TRUE(weight(a).storage()->read_only());
  EXPECT_EQ(weight(a).data(), weight(b).data());
}

TEST(Pt2, WeightsAreReplacedByName) {
  const std::string file = testing::TempDir() + "pt2_replacement.safetensors";
  save_safetensors(file, {{"head.bias", Tensor::full({5}, 7)}});
  const pt2::Program program =
      pt2::load(model_path("images"), {.weights = file});
  EXPECT_EQ(program.module->get_parameter("head.bias")
                .tensor()
                .at({2}),
            7);
  save_safetensors(file, {{"head.bias", Tensor::full({3}, 5)}});
  EXPECT_THROW(pt2::load(model_path("images"), {.weights = file}),
               UserError);
  save_safetensors(file, {{"other", Tensor::full({4}, 5)}});
  EXPECT_THROW(pt2::load(model_path("images"), {.weights = file}),
               UserError);
  std::filesystem::remove(file);
}

TEST(Pt2, ALoadedProgramIsSavedAndLoaded) {
  const ModelCase one = read_case("attention");
  const std::string file = testing::TempDir() + "pt2_saved.safetensors";
  fx::save(*one.program.module, file);
  const auto loaded = fx::load(file);
  const Value result = loaded->call(one.inputs);
  EXPECT_EQ(difference(one, {result}, tolerance_of(one.name)), "");
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace fxjit
