// Activations, dropout, reshaping.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "fxjit/nn/layer.h"

namespace fxjit::nn {

class Identity : public Layer<Identity> {
 public:
  Identity();
  Value forward(Value input);
};

struct ReLU : Custom<ReLU, FunctionLayer> {
  ReLU() : Custom("ReLU", "F.relu") {}
};

struct ReLU6 : Custom<ReLU6, FunctionLayer> {
  ReLU6() : Custom("ReLU6", "F.relu6") {}
};

struct SiLU : Custom<SiLU, FunctionLayer> {
  SiLU() : Custom("SiLU", "F.silu") {}
};

struct Tanh : Custom<Tanh, FunctionLayer> {
  Tanh() : Custom("Tanh", "torch.tanh") {}
};

struct Sigmoid : Custom<Sigmoid, FunctionLayer> {
  Sigmoid() : Custom("Sigmoid", "torch.sigmoid") {}
};

struct Hardswish : Custom<Hardswish, FunctionLayer> {
  Hardswish() : Custom("Hardswish", "F.hardswish") {}
};

struct Hardsigmoid : Custom<Hardsigmoid, FunctionLayer> {
  Hardsigmoid() : Custom("Hardsigmoid", "F.hardsigmoid") {}
};

struct Mish : Custom<Mish, FunctionLayer> {
  Mish() : Custom("Mish", "F.mish") {}
};

// `approximate`: "none" (through erf) or "tanh".
class GELU : public Layer<GELU> {
 public:
  explicit GELU(std::string approximate = "none");
  Value forward(Value input);
  std::string extra_repr() const override;
  const std::string approximate;
};

struct LeakyReLU : Custom<LeakyReLU, FunctionLayer> {
  explicit LeakyReLU(double negative_slope = 0.01)
      : Custom("LeakyReLU", "F.leaky_relu",
               {{"negative_slope", negative_slope}}),
        negative_slope(negative_slope) {}
  const double negative_slope;
};

// x where positive, else weight * x; the weight is one number or one per
// channel (dim 1).
class PReLU : public Layer<PReLU> {
 public:
  explicit PReLU(int64_t num_parameters = 1, double init = 0.25);
  Value forward(Value input);
  std::string extra_repr() const override;
  const int64_t num_parameters;
  const double init;
  Parameter weight;
};

struct ELU : Custom<ELU, FunctionLayer> {
  explicit ELU(double alpha = 1.0)
      : Custom("ELU", "F.elu", {{"alpha", alpha}}), alpha(alpha) {}
  const double alpha;
};

// The first half along `dim` times the sigmoid of the second.
struct GLU : Custom<GLU, FunctionLayer> {
  explicit GLU(int64_t dim = -1)
      : Custom("GLU", "F.glu", {{"dim", dim}}), dim(dim) {}
  const int64_t dim;
};

struct Softplus : Custom<Softplus, FunctionLayer> {
  explicit Softplus(double beta = 1.0, double threshold = 20.0)
      : Custom("Softplus", "torch._C._nn.softplus",
               {{"beta", beta}, {"threshold", threshold}}),
        beta(beta),
        threshold(threshold) {}
  const double beta, threshold;
};

struct Hardtanh : Custom<Hardtanh, FunctionLayer> {
  explicit Hardtanh(double min_val = -1.0, double max_val = 1.0)
      : Custom("Hardtanh", "F.hardtanh",
               {{"min_val", min_val}, {"max_val", max_val}}),
        min_val(min_val),
        max_val(max_val) {}
  const double min_val, max_val;
};

struct Softmax : Custom<Softmax, FunctionLayer> {
  explicit Softmax(int64_t dim)
      : Custom("Softmax", "F.softmax", {{"dim", dim}}), dim(dim) {}
  const int64_t dim;
};

struct LogSoftmax : Custom<LogSoftmax, FunctionLayer> {
  explicit LogSoftmax(int64_t dim)
      : Custom("LogSoftmax", "F.log_softmax", {{"dim", dim}}), dim(dim) {}
  const int64_t dim;
};

// The identity after eval(); running it in training mode is refused.
class Dropout : public Layer<Dropout> {
 public:
  explicit Dropout(double p = 0.5);
  Value forward(Value input);
  std::string extra_repr() const override;
  const double p;
};

class Flatten : public Layer<Flatten> {
 public:
  explicit Flatten(int64_t start_dim = 1, int64_t end_dim = -1);
  Value forward(Value input);
  std::string extra_repr() const override;
  const int64_t start_dim, end_dim;
};

}  // namespace fxjit::nn
