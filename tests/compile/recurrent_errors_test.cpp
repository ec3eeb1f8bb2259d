// Recurrent layers and cells with inputs, states and projections of wrong
// sizes: torch's texts, the same by the interpreter and by compiled modules.
#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"

namespace fxjit {
namespace TEST_FILE {

Tensor t(const Dims& sizes, DType dtype = DType::f32) {
  return Tensor::full(sizes, 0.5, dtype);
}

// What a call of the layer throws: type and text. The node and the line are
// known.
std::string error_of(const nn::ModuleRef& layer, const Value& x,
                     const Value& state) {
  const auto model = nn::lambda(
      "Model", {"x", "state"},
      [layer](Value x, Value state) { return layer(x, state); },
      {{"layer", layer}});
  const auto gm = fx::symbolic_trace(model);
  std::string first;
  for (const bool compiled : {false, true}) {
    if (compiled) compile(*gm);
    try {
      gm->call({x, state});
      return "nothing";
    } catch (const Error& error) {
      EXPECT_EQ(error.context().node, "layer");
      EXPECT_TRUE(error.context().source.known());
      const bool value = dynamic_cast<const ValueError*>(&error);
      const std::string text =
          (value ? "ValueError: " : "RuntimeError: ") + error.message();
      if (compiled) EXPECT_EQ(text, first);
      first = text;
    }
  }
  return first;
}

Value two(const Dims& h, const Dims& c) {
  return Value::tuple({t(h), t(c)});
}

TEST(RecurrentErrors, OfLayers) {
  const auto lstm = nn::LSTM::create(3, 4, nn::RecurrentOptions{.num_layers = 2});
  const auto gru = nn::GRU::create(3, 4);
  EXPECT_EQ(error_of(lstm, t({1, 2, 3, 3}), None),
            "ValueError: LSTM: Expected input to be 2D or 3D, got 4D instead");
  EXPECT_EQ(error_of(lstm, t({2, 2, 5}), None),
            "RuntimeError: input.size(-1) must be equal to input_size. "
            "Expected 3, got 5");
  EXPECT_EQ(error_of(lstm, t({2, 2, 3}), two({2, 4}, {2, 4})),
            "RuntimeError: For batched 3-D input, hx and cx should also be 3-D "
            "but got (2-D, 2-D) tensors");
  EXPECT_EQ(error_of(lstm, t({2, 2, 3}), two({2, 3, 4}, {2, 3, 4})),
            "RuntimeError: Expected hidden[0] size (2, 2, 4), got [2, 3, 4]");
  EXPECT_EQ(error_of(lstm, t({2, 2, 3}), two({2, 2, 4}, {2, 2, 5})),
            "RuntimeError: Expected hidden[1] size (2, 2, 4), got [2, 2, 5]");
  EXPECT_EQ(error_of(lstm, t({2, 2, 3}), two({1, 2, 4}, {1, 2, 4})),
            "RuntimeError: Expected hidden[0] size (2, 2, 4), got [1, 2, 4]");
  EXPECT_EQ(error_of(gru, t({2, 2, 3}), t({1, 3, 4})),
            "RuntimeError: Expected hidden size (1, 2, 4), got [1, 3, 4]");
  EXPECT_EQ(error_of(gru, t({0, 2, 3}), None),
            "RuntimeError: Expected sequence length to be larger than 0 in "
            "RNN");
  EXPECT_EQ(error_of(lstm, t({2, 2, 3}, DType::f64), None),
            "ValueError: RNN input dtype (torch.float64) does not match weight "
            "dtype (torch.float32). Convert input: input.to(torch.float32), or "
            "convert model: model.to(torch.float64)");
}

TEST(RecurrentErrors, OfProjections) {
  const auto lstm = nn::LSTM::create(3, 4, nn::RecurrentOptions{.proj_size = 2});
  EXPECT_EQ(error_of(lstm, t({2, 2, 3}), two({1, 2, 4}, {1, 2, 4})),
            "RuntimeError: Expected hidden[0] size (1, 2, 2), got [1, 2, 4]");
  EXPECT_EQ(error_of(lstm, t({2, 2, 3}), two({1, 2, 2}, {1, 2, 2})),
            "RuntimeError: Expected hidden[1] size (1, 2, 4), got [1, 2, 2]");
  for (const int64_t size : {-1, 4, 5})
    EXPECT_THROW(
        nn::LSTM::create(3, 4, nn::RecurrentOptions{.proj_size = size}),
        ValueError);
  EXPECT_THROW(nn::GRU::create(3, 4, nn::RecurrentOptions{.proj_size = 2}),
               ValueError);
}

TEST(RecurrentErrors, OfCells) {
  const auto lstm = nn::LSTMCell::create(3, 4);
  const auto gru = nn::GRUCell::create(3, 4);
  const auto rnn = nn::RNNCell::create(3, 4);
  EXPECT_EQ(error_of(lstm, t({1, 2, 3}), two({2, 4}, {2, 4})),
            "ValueError: LSTMCell: Expected input to be 1D or 2D, got 3D "
            "instead");
  EXPECT_EQ(error_of(lstm, t({2, 3}), two({1, 2, 4}, {1, 2, 4})),
            "ValueError: LSTMCell: Expected hx[0] to be 1D or 2D, got 3D "
            "instead");
  EXPECT_EQ(error_of(gru, t({2, 3}), t({1, 2, 4})),
            "ValueError: GRUCell: Expected hidden to be 1D or 2D, got 3D "
            "instead");
  EXPECT_EQ(error_of(lstm, t({2, 5}), two({2, 4}, {2, 4})),
            "RuntimeError: input has inconsistent input_size: got 5 expected "
            "3");
  EXPECT_EQ(error_of(lstm, t({2, 3}), two({3, 4}, {3, 4})),
            "RuntimeError: Input batch size 2 doesn't match hidden0 batch size "
            "3");
  // One row would be stretched to all.
  EXPECT_EQ(error_of(lstm, t({2, 3}), two({2, 4}, {1, 4})),
            "RuntimeError: Input batch size 2 doesn't match hidden1 batch size "
            "1");
  EXPECT_EQ(error_of(gru, t({2, 3}), t({2, 5})),
            "RuntimeError: hidden0 has inconsistent hidden_size: got 5, "
            "expected 4");
  EXPECT_EQ(error_of(rnn, t({2, 3}), t({1, 4})),
            "RuntimeError: Input batch size 2 doesn't match hidden0 batch size "
            "1");
}

}  // namespace TEST_FILE
}  // namespace fxjit
