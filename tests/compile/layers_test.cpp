// Layers of several inputs, traced as one call and compiled, against torch.nn.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "tests/compile/compile_testing.h"
#include "tests/nn/sequence_cases.h"

namespace fxjit {
namespace TEST_FILE {

// Calls the layer of a case as the case does, with each tensor as an input of
// its own.
class Caller : public nn::DeclaredModule {
 public:
  explicit Caller(const nn::SequenceCase& layer)
      : DeclaredModule("Caller", names_for(layer)), case_(layer) {
    layer_ = register_module("layer", nn::loaded(layer));
    eval();
  }

  static ValueList tensors(const nn::SequenceCase& layer) {
    ValueList found;
    replaced(layer, [&](const Value& tensor) {
      found.push_back(tensor);
      return tensor;
    });
    return found;
  }

  Value invoke(const ValueList& args, const Kwargs&) override {
    size_t next = 0;
    const auto [inputs, kwargs] =
        replaced(case_, [&](const Value&) { return args.at(next++); });
    return layer_->call(inputs, kwargs);
  }

 private:
  template <typename Fn>
  static std::pair<ValueList, Kwargs> replaced(const nn::SequenceCase& layer,
                                               Fn fn) {
    const auto each = [&](const Value& leaf) {
      return leaf.is_tensor() ? fn(leaf) : leaf;
    };
    std::pair<ValueList, Kwargs> made;
    for (const Value& input : layer.inputs)
      made.first.push_back(map_leaves(input, each));
    for (const auto& [name, value] : layer.kwargs)
      made.second.emplace_back(name, map_leaves(value, each));
    return made;
  }

  static nn::Signature names_for(const nn::SequenceCase& layer) {
    std::vector<nn::ArgSpec> names;
    for (size_t i = 0; i < tensors(layer).size(); ++i)
      names.emplace_back("x" + std::to_string(i));
    return nn::Signature(std::move(names));
  }

  nn::SequenceCase case_;
  nn::ModuleRef layer_;
};

class CompiledLayers : public ::testing::TestWithParam<nn::SequenceCase> {};

TEST_P(CompiledLayers, ComputeAsTorch) {
  Caller caller(GetParam());
  const ValueList inputs = Caller::tensors(GetParam());
  const auto gm = fx::symbolic_trace(caller);
  for (CpuLevel level : testing::host_levels()) {
    compile(*gm, testing::options_for(level, 2));
    nn::expect_outputs(gm->forward(inputs), GetParam());
    EXPECT_THAT(report(*gm),
                ::testing::Not(::testing::HasSubstr("not native")));
  }
}

// With their state, and stacks with their layers.
TEST_P(CompiledLayers, SurviveFilesAndCopies) {
  Caller caller(GetParam());
  const ValueList inputs = Caller::tensors(GetParam());
  const auto gm = fx::symbolic_trace(caller);
  const std::string path =
      ::testing::TempDir() + "layers_" + GetParam().name + ".fxjit";
  fx::save(*gm, path);
  const auto read = fx::load(path);
  std::filesystem::remove(path);
  nn::expect_outputs(read->forward(inputs), GetParam());
  nn::expect_outputs(read->deep_copy()->forward(inputs), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Torch, CompiledLayers,
                         ::testing::ValuesIn(nn::sequence_cases()),
                         [](const auto& info) {
                           return std::string(info.param.name);
                         });

}  // namespace TEST_FILE
}  // namespace fxjit
