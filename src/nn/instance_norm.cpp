#include "fxjit/nn/instance_norm.h"

#include "fxjit/functions.h"

namespace fxjit::nn {
namespace {

Value normalized(const BatchNormBase& norm, Value input, int batched_rank) {
  const int64_t rank = method(input, "dim", {}).as_int();
  if (rank != batched_rank && rank != batched_rank - 1)
    throw ValueError("expected " + std::to_string(batched_rank - 1) + "D or " +
                     std::to_string(batched_rank) + "D input (got " +
                     std::to_string(rank) + "D input)");
  const bool batched = rank == batched_rank;
  if (!batched) input = unsqueeze(input, 0);
  const bool tracked = norm.running_mean.defined();
  const Value result = function(
      "torch.nn.functional.instance_norm",
      {input, norm.running_mean, norm.running_var, norm.weight, norm.bias,
       norm.training() || !tracked, norm.momentum, norm.eps});
  return batched ? result : squeeze(result, 0);
}

}  // namespace

InstanceNorm1d::InstanceNorm1d(int64_t num_features, double eps,
                               double momentum, bool affine,
                               bool track_running_stats)
    : Custom("InstanceNorm1d", 2, 3, num_features, eps, momentum, affine,
             track_running_stats) {}
Value InstanceNorm1d::forward(Value input) {
  return normalized(*this, input, 3);
}

InstanceNorm2d::InstanceNorm2d(int64_t num_features, double eps,
                               double momentum, bool affine,
                               bool track_running_stats)
    : Custom("InstanceNorm2d", 3, 4, num_features, eps, momentum, affine,
             track_running_stats) {}
Value InstanceNorm2d::forward(Value input) {
  return normalized(*this, input, 4);
}

}  // namespace fxjit::nn
