// Activations, dropout, reshaping.
#pragma once

#include <cstdint>
#include <string>

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

class LeakyReLU : public Layer<LeakyReLU> {
 public:
  explicit LeakyReLU(double negative_slope = 0.01);
  Value forward(Value input);
  std::string extra_repr() const override;
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

class ELU : public Layer<ELU> {
 public:
  explicit ELU(double alpha = 1.0);
  Value forward(Value input);
  std::string extra_repr() const override;
  const double alpha;
};

// The first half along `dim` times the sigmoid of the second.
class GLU : public Layer<GLU> {
 public:
  explicit GLU(int64_t dim = -1);
  Value forward(Value input);
  std::string extra_repr() const override;
  const int64_t dim;
};

class Softplus : public Layer<Softplus> {
 public:
  explicit Softplus(double beta = 1.0, double threshold = 20.0);
  Value forward(Value input);
  std::string extra_repr() const override;
  const double beta, threshold;
};

class Hardtanh : public Layer<Hardtanh> {
 public:
  explicit Hardtanh(double min_val = -1.0, double max_val = 1.0);
  Value forward(Value input);
  std::string extra_repr() const override;
  const double min_val, max_val;
};

class Softmax : public Layer<Softmax> {
 public:
  explicit Softmax(int64_t dim);
  Value forward(Value input);
  std::string extra_repr() const override;
  const int64_t dim;
};

class LogSoftmax : public Layer<LogSoftmax> {
 public:
  explicit LogSoftmax(int64_t dim);
  Value forward(Value input);
  std::string extra_repr() const override;
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
