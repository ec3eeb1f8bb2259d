#include "fxjit/nn/pointwise.h"

#include "fxjit/functions.h"
#include "src/nn/repr_parts.h"

namespace fxjit::nn {
namespace {

Value call_op(const char* name, ValueList args, Kwargs kwargs = {}) {
  return function(name, std::move(args), std::move(kwargs));
}

}  // namespace

CELU::CELU(double alpha) : Custom("CELU", {"input"}), alpha(alpha) {}
Value CELU::forward(Value input) { return functional::celu(input, alpha); }
std::string CELU::extra_repr() const { return "alpha=" + py(alpha); }

Hardshrink::Hardshrink(double lambd)
    : Custom("Hardshrink", {"input"}), lambd(lambd) {}
Value Hardshrink::forward(Value input) {
  return call_op("torch.nn.functional.hardshrink", {input, lambd});
}
std::string Hardshrink::extra_repr() const { return py(lambd); }

Softshrink::Softshrink(double lambd)
    : Custom("Softshrink", {"input"}), lambd(lambd) {}
Value Softshrink::forward(Value input) {
  return call_op("torch.nn.functional.softshrink", {input, lambd});
}
std::string Softshrink::extra_repr() const { return py(lambd); }

Threshold::Threshold(double threshold, double value)
    : Custom("Threshold", {"input"}), threshold(threshold), value(value) {}
Value Threshold::forward(Value input) {
  return functional::threshold(input, threshold, value);
}
std::string Threshold::extra_repr() const {
  return "threshold=" + py(threshold) + ", value=" + py(value);
}

Softmin::Softmin(int64_t dim) : Custom("Softmin", {"input"}), dim(dim) {}
Value Softmin::forward(Value input) { return softmax(-input, dim); }
std::string Softmin::extra_repr() const { return "dim=" + py(dim); }

Unfold::Unfold(Value kernel_size, Value dilation, Value padding, Value stride)
    : Custom("Unfold", {"input"}),
      kernel_size(std::move(kernel_size)),
      dilation(std::move(dilation)),
      padding(std::move(padding)),
      stride(std::move(stride)) {}
Value Unfold::forward(Value input) {
  return call_op("torch.nn.functional.unfold",
                 {input, kernel_size, dilation, padding, stride});
}
std::string Unfold::extra_repr() const {
  return "kernel_size=" + py(kernel_size) + ", dilation=" + py(dilation) +
         ", padding=" + py(padding) + ", stride=" + py(stride);
}

Fold::Fold(Value output_size, Value kernel_size, Value dilation, Value padding,
           Value stride)
    : Custom("Fold", {"input"}),
      output_size(std::move(output_size)),
      kernel_size(std::move(kernel_size)),
      dilation(std::move(dilation)),
      padding(std::move(padding)),
      stride(std::move(stride)) {}
Value Fold::forward(Value input) {
  return call_op("torch.nn.functional.fold",
                 {input, output_size, kernel_size, dilation, padding, stride});
}
std::string Fold::extra_repr() const {
  return "output_size=" + py(output_size) + ", kernel_size=" + py(kernel_size) +
         ", dilation=" + py(dilation) + ", padding=" + py(padding) +
         ", stride=" + py(stride);
}

ChannelShuffle::ChannelShuffle(int64_t groups)
    : Custom("ChannelShuffle", {"input"}), groups(groups) {}
Value ChannelShuffle::forward(Value input) {
  return call_op("torch.channel_shuffle", {input, groups});
}
std::string ChannelShuffle::extra_repr() const {
  return "groups=" + py(groups);
}

LocalResponseNorm::LocalResponseNorm(int64_t size, double alpha, double beta,
                                     double k)
    : Custom("LocalResponseNorm", {"input"}),
      size(size),
      alpha(alpha),
      beta(beta),
      k(k) {}
Value LocalResponseNorm::forward(Value input) {
  return call_op("torch.nn.functional.local_response_norm",
                 {input, size, alpha, beta, k});
}
std::string LocalResponseNorm::extra_repr() const {
  return py(size) + ", alpha=" + py(alpha) + ", beta=" + py(beta) +
         ", k=" + py(k);
}

CosineSimilarity::CosineSimilarity(int64_t dim, double eps)
    : Custom("CosineSimilarity", {"x1", "x2"}), dim(dim), eps(eps) {}
Value CosineSimilarity::forward(Value x1, Value x2) {
  return call_op("torch.cosine_similarity", {x1, x2, dim, eps});
}

PairwiseDistance::PairwiseDistance(double p, double eps, bool keepdim)
    : Custom("PairwiseDistance", {"x1", "x2"}),
      p(p),
      eps(eps),
      keepdim(keepdim) {}
Value PairwiseDistance::forward(Value x1, Value x2) {
  return call_op("torch.pairwise_distance", {x1, x2, p, eps, keepdim});
}

}  // namespace fxjit::nn
