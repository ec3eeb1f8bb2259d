// How far apart vectors are, layers of two inputs, and what is normalised by
// its neighbours among the channels.
#include <cmath>

#include "fxjit/functions_structured.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"
#include "src/ops/table/promote.h"

namespace fxjit::ops {
namespace {

Value vector_norm(const Value& x, double order, int64_t dim, bool keep) {
  return fxjit::linalg_vector_norm(x, order, dim, keep);
}

Value cosine_similarity(const OpCall& call) {
  const int64_t dim = call.integer(2);
  const auto direction = [&](const Value& x) {
    return x / fxjit::clamp_min(vector_norm(x, 2, dim, true), call[3]);
  };
  Promotion promotion;
  for (size_t i : {0, 1}) promotion.add(meta_of(call[i]));
  const DType type = *promotion.result();
  if (!is_floating(type))
    runtime_error(
        "expected common dtype to be floating point, yet common dtype is ",
        torch_type_name(type));
  const Dims common =
      broadcast_shapes(meta_of(call[0]).sizes(), meta_of(call[1]).sizes());
  const Value a = fxjit::expand(cast_to(call[0], type), common);
  const Value b = fxjit::expand(cast_to(call[1], type), common);
  return fxjit::sum(direction(a) * direction(b), dim);
}

Value distance(const Value& a, const Value& b, double order, double eps,
               bool keep) {
  return vector_norm(a - b + eps, order, -1, keep);
}

Value pairwise_distance(const OpCall& call) {
  return distance(call[0], call[1], call.number(2), call.number(3),
                  call.flag(4));
}

Value reduced(const OpCall& call, size_t reduction, const Value& loss) {
  return reduced_loss(loss, checked_reduction(call[reduction]));
}

Value cosine_embedding_loss(const OpCall& call) {
  constexpr double kEps = 1e-12;
  const Value &a = call[0], &b = call[1], &target = call[2];
  const int dim = meta_of(target).dim() == 0 ? 0 : 1;
  const Value lengths =
      (fxjit::sum(a * a, dim) + kEps) * (fxjit::sum(b * b, dim) + kEps);
  const Value cosine = fxjit::sum(a * b, dim) / fxjit::sqrt(lengths);
  const Value apart = fxjit::clamp_min(cosine - call.number(3), 0.0);
  return reduced(call, 6,
                 fxjit::where(target == 1, 1.0 - cosine, 0.0) +
                     fxjit::where(target == -1, apart, 0.0));
}

Value triplet_margin_loss(const OpCall& call) {
  const auto between = [&](const Value& a, const Value& b) {
    return distance(a, b, call.number(4), call.number(5), false);
  };
  const Value near = between(call[0], call[1]);
  Value far = between(call[0], call[2]);
  if (call.flag(6)) far = fxjit::minimum(far, between(call[1], call[2]));
  return reduced(call, 9, fxjit::clamp_min(call.number(3) + near - far, 0.0));
}

// All pairs of rows. The difference is taken, not the product, which cancels.
Value cdist(const OpCall& call) {
  const Tensor a = meta_of(call[0]), b = meta_of(call[1]);
  if (a.dim() < 2 || b.dim() < 2)
    runtime_error("cdist only supports at least 2D tensors, X1 got: ", a.dim(),
                  "D");
  if (a.sizes().back() != b.sizes().back())
    runtime_error("X1 and X2 must have the same number of columns. X1: ",
                  a.sizes().back(), " X2: ", b.sizes().back());
  return vector_norm(
      fxjit::unsqueeze(call[0], -2) - fxjit::unsqueeze(call[1], -3),
      call.number(2), -1, false);
}

// Distances of each row to all rows behind it.
Value pdist(const OpCall& call) {
  const Tensor input = meta_of(call[0]);
  if (input.dim() != 2)
    runtime_error("pdist only supports 2D tensors, got: ", input.dim(), "D");
  std::vector<int64_t> firsts, seconds;
  for (int64_t i = 0; i < input.sizes()[0]; ++i)
    for (int64_t j = i + 1; j < input.sizes()[0]; ++j) {
      firsts.push_back(i);
      seconds.push_back(j);
    }
  const auto rows = [&](const std::vector<int64_t>& numbers) {
    return fxjit::index_select(call[0], 0, tensor_of(numbers));
  };
  return vector_norm(rows(firsts) - rows(seconds), call.number(1), 1, false);
}

// Slices along `dim` that are longer than `maxnorm` are scaled to that length.
Value renorm(const OpCall& call) {
  const Tensor input = meta_of(call[0]);
  if (input.dim() < 2)
    runtime_error("renorm: input needs at least 2 dimensions, got ",
                  input.dim(), " dimensions");
  const int axis = dim_arg(call, 2, input.dim());
  const Dims others = dims_between(0, input.dim(), {axis});
  constexpr double kEps = 1e-7;  // torch's.
  const double longest = call.number(3);
  const Value wide = widened(call[0], input.dtype());
  const Value lengths =
      fxjit::linalg_vector_norm(wide, call[1], axes_value(others), true);
  const Value factors = fxjit::where(fxjit::gt(lengths, longest),
                                     longest / (lengths + kEps), 1.0);
  return narrowed(wide * factors, wide, input.dtype());
}

Value dist(const OpCall& call) {
  return fxjit::linalg_vector_norm(call[0] - call[1], call.number(2));
}

// sum_ij a_i W_kij b_j: one product with all of W, then a sum over j.
Value bilinear(const OpCall& call) {
  const Tensor a = meta_of(call[0]), w = meta_of(call[2]);
  if (w.dim() != 3)
    runtime_error("bilinear: expected a weight of 3 dims, got ", w.sizes());
  const int64_t outputs = w.sizes()[0], left = w.sizes()[1],
                right = w.sizes()[2];
  const Value table = fxjit::reshape(fxjit::permute(call[2], {1, 0, 2}),
                                     Dims{left, outputs * right});
  Dims shape = a.sizes();
  shape.resize(shape.size() - 1);
  shape.push_back(outputs);
  shape.push_back(right);
  const Value half = fxjit::reshape(fxjit::matmul(call[0], table), shape);
  const Value sums = fxjit::sum(half * fxjit::unsqueeze(call[1], -2), -1);
  return call.has(3) ? sums + call[3] : sums;
}

Value local_response_norm(const OpCall& call) {
  const Tensor input = meta_of(call[0]);
  if (input.dim() < 3)
    throw ValueError(
        "Expected 3D or higher dimensionality                          input "
        "(got " +
        std::to_string(input.dim()) + " dimensions)");
  if (input.numel() == 0) return method(call[0], "clone");
  const int64_t size = call.integer(1), channels = input.sizes()[1];
  if (size <= 0)
    runtime_error("kernel size should be greater than zero, but got ",
                  input.dim() == 3 ? "kH: " : "kT: ", size,
                  input.dim() == 3 ? " kW: 1" : " kH: 1 kW: 1");
  // What lies further away is zero.
  const int64_t before = std::min(size / 2, channels);
  const int64_t after = std::min((size - 1) / 2, channels);
  ValueList pads(static_cast<size_t>(2 * (input.dim() - 2)), Value(0));
  pads.push_back(before);
  pads.push_back(after);
  const Value squares = nn::functional::pad(fxjit::square(call[0]),
                                            Value::tuple(std::move(pads)));
  Value total = fxjit::narrow(squares, 1, 0, channels);
  for (int64_t i = 1; i <= before + after; ++i)
    total = total + fxjit::narrow(squares, 1, i, channels);
  const Value base = total / double(size) * call.number(2) + call.number(4);
  return call[0] / fxjit::pow(base, call.number(3));
}

Value lp_pool(const OpCall& call) {
  const int spatial = call.op.name() == "lp_pool1d" ? 1 : 2;
  const double order = call.number(1);
  double count = 1;
  const Value powers = fxjit::pow(call[0], order);
  for (int64_t k : per_axis_arg(call, 2, spatial)) count *= double(k);
  const Value average =
      function(spatial == 1 ? "torch.avg_pool1d" : "torch._C._nn.avg_pool2d",
               {powers, call[2], call.has(3) ? call[3] : call[2], 0, call[4]});
  const Value kept = fxjit::sign(average) * fxjit::relu(fxjit::abs(average));
  return fxjit::pow(kept * count, 1.0 / order);
}

constexpr OpRow kDistancesRows[] = {
    composed_row(
        "cosine_similarity", "x1, x2, dim=1, eps=1e-08",
        "torch.cosine_similarity =F.cosine_similarity nn.CosineSimilarity",
        cosine_similarity),
    composed_row(
        "pairwise_distance", "x1, x2, p=2, eps=1e-06, keepdim=False",
        "torch.pairwise_distance =F.pairwise_distance nn.PairwiseDistance",
        pairwise_distance),
    composed_row(
        "cosine_embedding_loss",
        "input1, input2, target, margin=0, size_average=None, reduce=None, "
        "reduction='mean'",
        "F.cosine_embedding_loss! nn.CosineEmbeddingLoss",
        cosine_embedding_loss),
    composed_row(
        "triplet_margin_loss",
        "anchor, positive, negative, margin=1.0, p=2, eps=1e-06, swap=False, "
        "size_average=None, reduce=None, reduction='mean'",
        "F.triplet_margin_loss! nn.TripletMarginLoss", triplet_margin_loss),
    composed_row("cdist", "x1, x2, p=2.0, compute_mode=None",
                 "torch.functional.cdist", cdist),
    composed_row("dist", "input, other, p=2", "torch.dist .dist", dist),
    composed_row("pdist", "input, p=2.0", "torch.pdist", pdist),
    composed_row("renorm", "input, p, dim, maxnorm", "torch.renorm .renorm",
                 renorm)
        .stating({.layout = Layout::plain}),
    composed_row("bilinear", "input1, input2, weight, bias=None",
                 "torch.bilinear =F.bilinear nn.Bilinear", bilinear)
        .stating({.native = NativeCalls::products}),
    composed_row(
        "local_response_norm", "input, size, alpha=0.0001, beta=0.75, k=1.0",
        "F.local_response_norm! nn.LocalResponseNorm", local_response_norm),
    composed_row("lp_pool1d",
                 "input, norm_type, kernel_size, stride=None, ceil_mode=False",
                 "F.lp_pool1d! nn.LPPool1d", lp_pool)
        .stating({.layout = Layout::line, .native = NativeCalls::single}),
    composed_row("lp_pool2d",
                 "input, norm_type, kernel_size, stride=None, ceil_mode=False",
                 "F.lp_pool2d! nn.LPPool2d", lp_pool)
        .stating({.layout = Layout::image, .native = NativeCalls::single}),
};

}  // namespace

std::span<const OpRow> distance_rows() { return kDistancesRows; }

}  // namespace fxjit::ops
