// Attention and recurrent layers against torch.nn: printed form, state and
// numbers.
#include "tests/nn/sequence_cases.h"

#include <gtest/gtest.h>

#include <functional>

namespace fxjit::nn {
namespace TEST_FILE {

std::string with_line_breaks(std::string text) {
  for (size_t at; (at = text.find("\\n")) != text.npos;)
    text.replace(at, 2, "\n");
  return text;
}

class Sequences : public ::testing::TestWithParam<SequenceCase> {};

TEST_P(Sequences, PrintsAsTorch) {
  EXPECT_EQ(GetParam().make()->str(), with_line_breaks(GetParam().printed));
}

TEST_P(Sequences, ComputesAsTorch) {
  expect_outputs(
      loaded(GetParam())->invoke(GetParam().inputs, GetParam().kwargs),
      GetParam());
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
  const ModuleRef module = loaded(GetParam());
  const ModuleRef again = made_again(*module);
  again->load_state_dict(module->state_dict());
  again->eval();
  expect_outputs(again->invoke(GetParam().inputs, GetParam().kwargs),
                 GetParam());
}

INSTANTIATE_TEST_SUITE_P(Torch, Sequences, ::testing::ValuesIn(sequence_cases()),
                         [](const auto& info) {
                           return std::string(info.param.name);
                         });

TEST(Sequences, WrongOptionsAreRefused) {
  EXPECT_THROW(MultiheadAttention::create(6, 4), ValueError);
  EXPECT_THROW(MultiheadAttention::create(0, 1), ValueError);
  EXPECT_THROW(LSTM::create(3, 0), ValueError);
  EXPECT_THROW(RNN::create(3, 4, RecurrentOptions{.nonlinearity = "sin"}),
               ValueError);
  EXPECT_THROW(LSTM::create(3, 4, RecurrentOptions{.proj_size = 4}), ValueError);
  EXPECT_THROW(LSTM::create(3, 4, RecurrentOptions{.proj_size = -1}),
               ValueError);
  EXPECT_THROW(GRU::create(3, 4, RecurrentOptions{.proj_size = 2}), ValueError);
  const auto gru = GRU::create(3, 4);
  EXPECT_THROW(gru(Tensor::zeros({5, 2, 4})), RuntimeError);
  EXPECT_THROW(gru(Tensor::zeros({0, 2, 3})), RuntimeError);
}

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return std::string(error.message());
  }
  return "nothing is refused";
}

TEST(Sequences, WrongInputsAreRefusedAsByTorch) {
  const auto lstm = LSTM::create(3, 4);
  const auto gru = GRU::create(3, 4);
  const Tensor x = Tensor::zeros({5, 2, 3});
  const Tensor one = Tensor::zeros({1, 2, 4}), two = Tensor::zeros({2, 2, 4});
  const Tensor flat = Tensor::zeros({1, 4});
  EXPECT_EQ(refusal([&] { gru(Tensor::zeros({5, 2, 4})); }),
            "input.size(-1) must be equal to input_size. Expected 3, got 4");
  EXPECT_EQ(refusal([&] { gru(Tensor::zeros({3})); }),
            "GRU: Expected input to be 2D or 3D, got 1D instead");
  EXPECT_EQ(refusal([&] { gru(x, two); }),
            "Expected hidden size (1, 2, 4), got [2, 2, 4]");
  EXPECT_EQ(refusal([&] { gru(x, flat); }),
            "For batched 3-D input, hx should also be 3-D but got 2-D tensor");
  EXPECT_EQ(refusal([&] { lstm(x, Value::tuple({one, two})); }),
            "Expected hidden[1] size (1, 2, 4), got [2, 2, 4]");
  EXPECT_EQ(refusal([&] { lstm(Tensor::zeros({5, 3}), Value::tuple({one, flat})); }),
            "For unbatched 2-D input, hx and cx should also be 2-D but got "
            "(3-D, 2-D) tensors");
}

TEST(Sequences, StacksNeedLayers) {
  const auto layer = TransformerEncoderLayer::create(4, 2);
  EXPECT_THROW(TransformerEncoder::create(layer, 0), ValueError);
  EXPECT_THROW(TransformerEncoder::create(ModuleRef(), 2), ValueError);
  EXPECT_THROW(TransformerDecoder::create(ModuleRef(), 2), ValueError);
}

// The layers of a stack are copies, which share nothing with what they are
// made from or with each other.
TEST(Sequences, StacksCopyTheirLayer) {
  const auto layer = TransformerEncoderLayer::create(4, 2);
  const auto stack = TransformerEncoder::create(layer, 2);
  EXPECT_EQ(stack->num_layers(), 2);
  const char* const name = "linear1.weight";
  const Parameter first = stack->get_parameter("layers.0.linear1.weight");
  const Parameter second = stack->get_parameter("layers.1.linear1.weight");
  EXPECT_EQ(first.tensor().to_floats(),
            layer->get_parameter(name).tensor().to_floats());
  EXPECT_FALSE(first == second);
  EXPECT_FALSE(first == layer->get_parameter(name));
  first.tensor().data_as<float>()[0] += 1;
  EXPECT_NE(first.tensor().to_floats(), second.tensor().to_floats());
}

TEST(Sequences, AttentionRefusesMasksOfAnotherLayout) {
  const auto attention = MultiheadAttention::create(6, 2);
  attention->eval();
  const Tensor x = Tensor::zeros({5, 2, 6}), m = Tensor::zeros({4, 2, 6});
  const auto run = [&](const Tensor& query, const Tensor& key,
                       const Tensor& value, const Kwargs& masks) {
    return attention->invoke({query, key, value}, masks);
  };
  const auto masked = [&](const char* name, const Dims& sizes) {
    return run(m, x, x, {{name, Tensor::zeros(sizes)}});
  };
  EXPECT_NO_THROW(masked("attn_mask", {4, 5}));
  EXPECT_NO_THROW(masked("attn_mask", {4, 4, 5}));
  EXPECT_NO_THROW(masked("key_padding_mask", {2, 5}));
  EXPECT_THROW(masked("attn_mask", {5, 4}), RuntimeError);
  EXPECT_THROW(masked("attn_mask", {1, 5}), RuntimeError);
  EXPECT_THROW(masked("attn_mask", {4, 5, 4}), RuntimeError);
  EXPECT_THROW(masked("attn_mask", {1, 4, 5}), RuntimeError);
  EXPECT_THROW(masked("attn_mask", {2, 2, 4, 5}), AssertionError);
  EXPECT_THROW(masked("key_padding_mask", {5, 2}), AssertionError);
  EXPECT_THROW(masked("key_padding_mask", {10}), AssertionError);
  EXPECT_THROW(run(x, x, m, {}), AssertionError);
  EXPECT_THROW(run(x, Tensor::zeros({5, 6}), x, {}), AssertionError);
  EXPECT_THROW(run(Tensor::zeros({6}), x, x, {}), AssertionError);
}

}  // namespace TEST_FILE
}  // namespace fxjit::nn
