#include "fxjit/nn/instance_norm.h"

#include "fxjit/functions.h"

namespace fxjit::nn {

Value InstanceNormBase::forward(Value input) {
  const int64_t rank = method(input, "dim", {}).as_int();
  if (rank != rank_ && rank != rank_ - 1)
    throw ValueError("expected " + std::to_string(rank_ - 1) + "D or " +
                     std::to_string(rank_) + "D input (got " +
                     std::to_string(rank) + "D input)");
  const bool batched = rank == rank_;
  if (!batched) input = unsqueeze(input, 0);
  const Value result =
      function("torch.nn.functional.instance_norm",
               {input, running_mean, running_var, weight, bias,
                training() || !running_mean.defined(), momentum, eps});
  return batched ? result : squeeze(result, 0);
}

}  // namespace fxjit::nn
