#include "fxjit/nn/pointwise.h"

#include "fxjit/functions.h"
#include "src/nn/repr_parts.h"

namespace fxjit::nn {

Softmin::Softmin(int64_t dim) : Custom("Softmin", {"input"}), dim(dim) {}
Value Softmin::forward(Value input) { return softmax(-input, dim); }
std::string Softmin::extra_repr() const { return "dim=" + py(dim); }

CosineSimilarity::CosineSimilarity(int64_t dim, double eps)
    : Custom("CosineSimilarity", {"x1", "x2"}), dim(dim), eps(eps) {}
Value CosineSimilarity::forward(Value x1, Value x2) {
  return function("torch.cosine_similarity", {x1, x2, dim, eps});
}

PairwiseDistance::PairwiseDistance(double p, double eps, bool keepdim)
    : Custom("PairwiseDistance", {"x1", "x2"}),
      p(p),
      eps(eps),
      keepdim(keepdim) {}
Value PairwiseDistance::forward(Value x1, Value x2) {
  return function("torch.pairwise_distance", {x1, x2, p, eps, keepdim});
}

}  // namespace fxjit::nn
