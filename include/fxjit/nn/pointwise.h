// Layers of one function and at most two numbers: the rest of torch.nn's
// activations, windows, distances and what is normalised by neighbours.
#pragma once

#include <cstdint>
#include <string>

#include "fxjit/nn/layer.h"

namespace fxjit::nn {

struct LogSigmoid : Custom<LogSigmoid, FunctionLayer> {
  LogSigmoid() : Custom("LogSigmoid", "torch.nn.functional.logsigmoid") {}
};

struct Softsign : Custom<Softsign, FunctionLayer> {
  Softsign() : Custom("Softsign", "F.softsign") {}
};

struct Tanhshrink : Custom<Tanhshrink, FunctionLayer> {
  Tanhshrink() : Custom("Tanhshrink", "F.tanhshrink") {}
};

struct SELU : Custom<SELU, FunctionLayer> {
  SELU() : Custom("SELU", "F.selu") {}
};

class CELU : public Layer<CELU> {
 public:
  explicit CELU(double alpha = 1.0);
  Value forward(Value input);
  std::string extra_repr() const override;
  const double alpha;
};

// Zero between -lambd and lambd, the input elsewhere.
class Hardshrink : public Layer<Hardshrink> {
 public:
  explicit Hardshrink(double lambd = 0.5);
  Value forward(Value input);
  std::string extra_repr() const override;
  const double lambd;
};

// The input moved towards zero by lambd.
class Softshrink : public Layer<Softshrink> {
 public:
  explicit Softshrink(double lambd = 0.5);
  Value forward(Value input);
  std::string extra_repr() const override;
  const double lambd;
};

// `value` where the input is not above `threshold`.
class Threshold : public Layer<Threshold> {
 public:
  Threshold(double threshold, double value);
  Value forward(Value input);
  std::string extra_repr() const override;
  const double threshold, value;
};

// Softmax of the negative input.
class Softmin : public Layer<Softmin> {
 public:
  explicit Softmin(int64_t dim);
  Value forward(Value input);
  std::string extra_repr() const override;
  const int64_t dim;
};

// Turns the windows of [N, C, H, W] or [C, H, W] into columns
// [N, C * window, count].
class Unfold : public Layer<Unfold> {
 public:
  explicit Unfold(Value kernel_size, Value dilation = 1, Value padding = 0,
                  Value stride = 1);
  Value forward(Value input);
  std::string extra_repr() const override;
  const Value kernel_size, dilation, padding, stride;
};

// Sums columns back into an image of `output_size`.
class Fold : public Layer<Fold> {
 public:
  Fold(Value output_size, Value kernel_size, Value dilation = 1,
       Value padding = 0, Value stride = 1);
  Value forward(Value input);
  std::string extra_repr() const override;
  const Value output_size, kernel_size, dilation, padding, stride;
};

class ChannelShuffle : public Layer<ChannelShuffle> {
 public:
  explicit ChannelShuffle(int64_t groups);
  Value forward(Value input);
  std::string extra_repr() const override;
  const int64_t groups;
};

// Each channel over a power of the mean square of its `size` neighbours.
class LocalResponseNorm : public Layer<LocalResponseNorm> {
 public:
  explicit LocalResponseNorm(int64_t size, double alpha = 1e-4,
                             double beta = 0.75, double k = 1.0);
  Value forward(Value input);
  std::string extra_repr() const override;
  const int64_t size;
  const double alpha, beta, k;
};

class CosineSimilarity : public Layer<CosineSimilarity> {
 public:
  explicit CosineSimilarity(int64_t dim = 1, double eps = 1e-8);
  Value forward(Value x1, Value x2);
  const int64_t dim;
  const double eps;
};

class PairwiseDistance : public Layer<PairwiseDistance> {
 public:
  explicit PairwiseDistance(double p = 2.0, double eps = 1e-6,
                            bool keepdim = false);
  Value forward(Value x1, Value x2);
  const double p, eps;
  const bool keepdim;
};

}  // namespace fxjit::nn
