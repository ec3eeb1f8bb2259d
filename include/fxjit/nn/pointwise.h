// Layers of one function and at most two numbers: the rest of torch.nn's
// activations, windows, distances and what is normalised by neighbours.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

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

struct CELU : Custom<CELU, FunctionLayer> {
  explicit CELU(double alpha = 1.0)
      : Custom("CELU", "F.celu", {{"alpha", alpha}}), alpha(alpha) {}
  const double alpha;
};

// Zero between -lambd and lambd, the input elsewhere.
struct Hardshrink : Custom<Hardshrink, FunctionLayer> {
  explicit Hardshrink(double lambd = 0.5)
      : Custom("Hardshrink", "torch.nn.functional.hardshrink", {{"", lambd}}),
        lambd(lambd) {}
  const double lambd;
};

// The input moved towards zero by lambd.
struct Softshrink : Custom<Softshrink, FunctionLayer> {
  explicit Softshrink(double lambd = 0.5)
      : Custom("Softshrink", "torch.nn.functional.softshrink", {{"", lambd}}),
        lambd(lambd) {}
  const double lambd;
};

// `value` where the input is not above `threshold`.
struct Threshold : Custom<Threshold, FunctionLayer> {
  Threshold(double threshold, double value)
      : Custom("Threshold", "torch.nn.functional._threshold",
               {{"threshold", threshold}, {"value", value}}),
        threshold(threshold),
        value(value) {}
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
struct Unfold : Custom<Unfold, FunctionLayer> {
  explicit Unfold(Value kernel_size, Value dilation = 1, Value padding = 0,
                  Value stride = 1)
      : Custom("Unfold", "torch.nn.functional.unfold",
               {{"kernel_size", kernel_size},
                {"dilation", dilation},
                {"padding", padding},
                {"stride", stride}}),
        kernel_size(std::move(kernel_size)),
        dilation(std::move(dilation)),
        padding(std::move(padding)),
        stride(std::move(stride)) {}
  const Value kernel_size, dilation, padding, stride;
};

// Sums columns back into an image of `output_size`.
struct Fold : Custom<Fold, FunctionLayer> {
  Fold(Value output_size, Value kernel_size, Value dilation = 1,
       Value padding = 0, Value stride = 1)
      : Custom("Fold", "torch.nn.functional.fold",
               {{"output_size", output_size},
                {"kernel_size", kernel_size},
                {"dilation", dilation},
                {"padding", padding},
                {"stride", stride}}),
        output_size(std::move(output_size)),
        kernel_size(std::move(kernel_size)),
        dilation(std::move(dilation)),
        padding(std::move(padding)),
        stride(std::move(stride)) {}
  const Value output_size, kernel_size, dilation, padding, stride;
};

struct ChannelShuffle : Custom<ChannelShuffle, FunctionLayer> {
  explicit ChannelShuffle(int64_t groups)
      : Custom("ChannelShuffle", "torch.channel_shuffle", {{"groups", groups}}),
        groups(groups) {}
  const int64_t groups;
};

// Each channel over a power of the mean square of its `size` neighbours.
struct LocalResponseNorm : Custom<LocalResponseNorm, FunctionLayer> {
  explicit LocalResponseNorm(int64_t size, double alpha = 1e-4,
                             double beta = 0.75, double k = 1.0)
      : Custom("LocalResponseNorm", "torch.nn.functional.local_response_norm",
               {{"", size}, {"alpha", alpha}, {"beta", beta}, {"k", k}}),
        size(size),
        alpha(alpha),
        beta(beta),
        k(k) {}
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
