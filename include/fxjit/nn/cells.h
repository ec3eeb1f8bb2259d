// Single steps of the recurrent layers: RNNCell, LSTMCell and GRUCell. Input
// [N, input_size] or [input_size]; a state of none is zeros.
#pragma once

#include <cstdint>
#include <string>

#include "fxjit/nn/layer.h"

namespace fxjit::nn {

// Weights and printed form. Two biases, as torch has them, or none.
class CellBase : public LeafModule {
 public:
  CellBase(std::string type_name, int64_t gates, int64_t input_size,
           int64_t hidden_size, bool with_bias);
  std::string extra_repr() const override;

  const int64_t input_size, hidden_size;
  Parameter weight_ih, weight_hh, bias_ih, bias_hh;

 protected:
  // The new state or states, by torch's function of this name.
  Value run(const char* function_name, const Value& input,
            const Value& hx) const;
  Value zeros_like_state(const Value& input) const;
};

// `nonlinearity`: "tanh" or "relu". Gives the new state.
class RNNCell : public Custom<RNNCell, CellBase> {
 public:
  RNNCell(int64_t input_size, int64_t hidden_size, bool bias = true,
          std::string nonlinearity = "tanh");
  Value forward(Value input, Value hx);
  std::string extra_repr() const override;
  const std::string nonlinearity;
};

// Takes and gives the tuple (h, c).
class LSTMCell : public Custom<LSTMCell, CellBase> {
 public:
  LSTMCell(int64_t input_size, int64_t hidden_size, bool bias = true);
  Value forward(Value input, Value hx);
};

class GRUCell : public Custom<GRUCell, CellBase> {
 public:
  GRUCell(int64_t input_size, int64_t hidden_size, bool bias = true);
  Value forward(Value input, Value hx);
};

}  // namespace fxjit::nn
