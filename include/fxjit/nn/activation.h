// Activations, dropout, reshaping.
#pragma once

#include <cstdint>
#include <string>

#include "fxjit/nn/layer.h"

namespace fxjit::nn {

struct Identity : OwnLayer<Identity, "Identity"> {
  Value forward(Value input) { return input; }
};

struct ReLU : TorchLayer<ReLU, "ReLU", "F.relu"> {};
struct ReLU6 : TorchLayer<ReLU6, "ReLU6", "F.relu6"> {};
struct SiLU : TorchLayer<SiLU, "SiLU", "F.silu"> {};
struct Tanh : TorchLayer<Tanh, "Tanh", "torch.tanh"> {};
struct Sigmoid : TorchLayer<Sigmoid, "Sigmoid", "torch.sigmoid"> {};
struct Hardswish : TorchLayer<Hardswish, "Hardswish", "F.hardswish"> {};
struct Hardsigmoid : TorchLayer<Hardsigmoid, "Hardsigmoid", "F.hardsigmoid"> {};
struct Mish : TorchLayer<Mish, "Mish", "F.mish"> {};
// `approximate`: "none" (through erf) or "tanh".
struct GELU : OwnLayer<GELU, "GELU"> {
  using TorchLayer::TorchLayer;
  explicit GELU(std::string approximate = "none")
      : TorchLayer(LayerArgs::of({approximate})) {}
  Value forward(Value input);
  const std::string approximate = field("approximate");
};

struct LeakyReLU : TorchLayer<LeakyReLU, "LeakyReLU", "F.leaky_relu"> {
  using TorchLayer::TorchLayer;
  explicit LeakyReLU(double negative_slope = 0.01)
      : TorchLayer(LayerArgs::of({negative_slope})) {}
  const double negative_slope = field("negative_slope");
};

// x where positive, else weight * x; the weight is one number or one per
// channel (dim 1).
class PReLU : public OwnLayer<PReLU, "PReLU"> {
 public:
  explicit PReLU(LayerArgs given);
  explicit PReLU(int64_t num_parameters = 1, double init = 0.25)
      : PReLU(LayerArgs::of({num_parameters, init})) {}
  Value forward(Value input);
  const int64_t num_parameters = field("num_parameters");
  const double init = field("init", Shown::hidden);
  Parameter weight;
};

struct ELU : TorchLayer<ELU, "ELU", "F.elu"> {
  using TorchLayer::TorchLayer;
  explicit ELU(double alpha = 1.0) : TorchLayer(LayerArgs::of({alpha})) {}
  const double alpha = field("alpha");
};

// The first half along `dim` times the sigmoid of the second.
struct GLU : TorchLayer<GLU, "GLU", "F.glu"> {
  using TorchLayer::TorchLayer;
  explicit GLU(int64_t dim = -1) : TorchLayer(LayerArgs::of({dim})) {}
  const int64_t dim = field("dim");
};

struct Softplus : TorchLayer<Softplus, "Softplus", "torch._C._nn.softplus"> {
  using TorchLayer::TorchLayer;
  explicit Softplus(double beta = 1.0, double threshold = 20.0)
      : TorchLayer(LayerArgs::of({beta, threshold})) {}
  const double beta = field("beta"), threshold = field("threshold");
};

struct Hardtanh : TorchLayer<Hardtanh, "Hardtanh", "F.hardtanh"> {
  using TorchLayer::TorchLayer;
  explicit Hardtanh(double min_val = -1.0, double max_val = 1.0)
      : TorchLayer(LayerArgs::of({min_val, max_val})) {}
  const double min_val = field("min_val"), max_val = field("max_val");
};

struct Softmax : TorchLayer<Softmax, "Softmax", "F.softmax"> {
  using TorchLayer::TorchLayer;
  explicit Softmax(int64_t dim) : TorchLayer(LayerArgs::of({dim})) {}
  const int64_t dim = field("dim");
};

struct LogSoftmax : TorchLayer<LogSoftmax, "LogSoftmax", "F.log_softmax"> {
  using TorchLayer::TorchLayer;
  explicit LogSoftmax(int64_t dim) : TorchLayer(LayerArgs::of({dim})) {}
  const int64_t dim = field("dim");
};

// The identity after eval(). In training each element becomes 0 with
// probability p, and the others are divided by 1 - p. ValueError for a p
// outside 0 to 1.
class Dropout : public OwnLayer<Dropout, "Dropout"> {
 public:
  explicit Dropout(LayerArgs given);
  explicit Dropout(double p = 0.5) : Dropout(LayerArgs::of({p})) {}
  Value forward(Value input);
  std::string extra_repr() const override;
  const double p = field("p");
};

struct Flatten : OwnLayer<Flatten, "Flatten"> {
  using TorchLayer::TorchLayer;
  explicit Flatten(int64_t start_dim = 1, int64_t end_dim = -1)
      : TorchLayer(LayerArgs::of({start_dim, end_dim})) {}
  Value forward(Value input);
  const int64_t start_dim = field("start_dim"), end_dim = field("end_dim");
};

using ActivationLayers =
    LayerList<Identity, ReLU, ReLU6, SiLU, Tanh, Sigmoid, Hardswish,
              Hardsigmoid, Mish, GELU, LeakyReLU, PReLU, ELU, GLU, Softplus,
              Hardtanh, Softmax, LogSoftmax, Dropout, Flatten>;

}  // namespace fxjit::nn
