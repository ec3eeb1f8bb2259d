// Attention and recurrent layers against torch.nn: printed form, state and
// numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "fxjit/nn.h"

namespace fxjit::nn {
namespace {

struct SequenceCase {
  const char* name;
  std::function<ModuleRef()> make;
  const char* printed;  // Line breaks as "\n" in two characters.
  StateDict state;
  ValueList inputs;
  Kwargs kwargs;
  std::vector<Tensor> outputs;
};

std::vector<SequenceCase> sequence_cases() {
  return {
#include "tests/nn/reference/sequences.inc"
  };
}

std::string with_line_breaks(std::string text) {
  for (size_t at; (at = text.find("\\n")) != text.npos;)
    text.replace(at, 2, "\n");
  return text;
}

class Sequences : public testing::TestWithParam<SequenceCase> {
 protected:
  static ModuleRef load() {
    ModuleRef module = GetParam().make();
    module->eval();
    const LoadReport report = module->load_state_dict(GetParam().state);
    EXPECT_TRUE(report.unexpected.empty());
    EXPECT_TRUE(report.missing.empty());
    return module;
  }
  static void check(const Value& result) {
    std::vector<Tensor> tensors;
    visit_leaves(result, [&](const Value& leaf) {
      if (leaf.is_tensor()) tensors.push_back(leaf.as_tensor());
    });
    ASSERT_EQ(tensors.size(), GetParam().outputs.size());
    for (size_t i = 0; i < tensors.size(); ++i) {
      EXPECT_EQ(tensors[i].sizes(), GetParam().outputs[i].sizes());
      EXPECT_THAT(tensors[i].to_floats(),
                  testing::Pointwise(testing::NanSensitiveFloatNear(2e-5f),
                                     GetParam().outputs[i].to_floats()));
    }
  }
};

TEST_P(Sequences, PrintsAsTorch) {
  EXPECT_EQ(GetParam().make()->str(), with_line_breaks(GetParam().printed));
}

TEST_P(Sequences, ComputesAsTorch) {
  check(load()->invoke(GetParam().inputs, GetParam().kwargs));
}

// From its type's name and arguments, and its children likewise, as files do.
ModuleRef made_again(const Module& module) {
  const ModuleType* type = find_module_type(module);
  if (!type) throw UserError(module.type_name() + " is no known type");
  const ModuleRef again = make_module(type->name, type->arguments(module));
  for (const auto& [name, child] : module.children())
    again->register_module(name, made_again(*child));
  return again;
}

TEST_P(Sequences, AreKnownTypes) {
  const ModuleRef module = load();
  const ModuleRef again = made_again(*module);
  again->load_state_dict(module->state_dict());
  again->eval();
  check(again->invoke(GetParam().inputs, GetParam().kwargs));
}

INSTANTIATE_TEST_SUITE_P(Torch, Sequences, testing::ValuesIn(sequence_cases()),
                         [](const auto& info) {
                           return std::string(info.param.name);
                         });

TEST(Sequences, WrongOptionsAreRefused) {
  EXPECT_THROW(MultiheadAttention::create(6, 4), ValueError);
  EXPECT_THROW(MultiheadAttention::create(0, 1), ValueError);
  EXPECT_THROW(LSTM::create(3, 0), ValueError);
  EXPECT_THROW(RNN::create(3, 4, RecurrentOptions{.nonlinearity = "sin"}),
               ValueError);
  const auto gru = GRU::create(3, 4);
  EXPECT_THROW(gru(Tensor::zeros({5, 2, 4})), RuntimeError);
  EXPECT_THROW(gru(Tensor::zeros({0, 2, 3})), RuntimeError);
}

}  // namespace
}  // namespace fxjit::nn
