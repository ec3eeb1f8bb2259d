// Losses, as models call them in forward: elementwise work and one reduction,
// so all of it is fused. Targets of classes are looked up by gather.
#include "fxjit/functions_structured.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

constexpr double kLn2Pi = 1.8378770664093454836;

Value reduced(const OpCall& call, const Value& loss) {
  return reduced_loss(loss, reduction_of(call, true));
}

Value weighted(const Value& loss, const Value& weight) {
  return weight.is_none() ? loss : loss * weight;
}

Value mse_loss(const OpCall& call) {
  const Value distance = call[0] - call[1];
  const std::string how = reduction_of(call, true);
  const Value loss = weighted(distance * distance, call[5]);
  if (how == "mean" && call.has(5))
    return fxjit::sum(loss) / fxjit::sum(method(call[5], "expand_as", {loss}));
  return reduced(call, loss);
}

Value l1_loss(const OpCall& call) {
  return reduced(call, fxjit::abs(call[0] - call[1]));
}

Value smooth_l1_loss(const OpCall& call) {
  const double beta = call.number(5);
  const Value distance = fxjit::abs(call[0] - call[1]);
  if (beta == 0) return reduced(call, distance);
  return reduced(call,
                 fxjit::where(distance < beta, 0.5 * distance * distance / beta,
                              distance - 0.5 * beta));
}

Value huber_loss(const OpCall& call) {
  const double delta = call.number(3);
  const Value distance = fxjit::abs(call[0] - call[1]);
  const Value loss = fxjit::where(distance < delta, 0.5 * distance * distance,
                                  delta * (distance - 0.5 * delta));
  return reduced(call, weighted(loss, call[4]));
}

Value binary_cross_entropy(const OpCall& call) {
  const Value &x = call[0], &target = call[1];
  if (!(meta_of(x).sizes() == meta_of(target).sizes()))
    throw ValueError(
        "Using a target size (torch.Size(" + meta_of(target).sizes().str() +
        ")) that is different to the input size (torch.Size(" +
        meta_of(x).sizes().str() +
        ")) is deprecated. Please ensure they have the same size.");
  const Value loss =
      (target - 1.0) * fxjit::clamp_min(fxjit::log1p(-x), -100.0) -
      target * fxjit::clamp_min(fxjit::log(x), -100.0);
  return reduced(call, weighted(loss, call[2]));
}

Value binary_cross_entropy_with_logits(const OpCall& call) {
  const Value &x = call[0], &target = call[1];
  if (!(meta_of(x).sizes() == meta_of(target).sizes()))
    throw ValueError(concat("Target size (torch.Size(", meta_of(target).sizes(),
                            ")) must be the same as input size (torch.Size(",
                            meta_of(x).sizes(), "))"));
  Value likely =
      fxjit::log1p(fxjit::exp(-fxjit::abs(x))) + fxjit::clamp_min(-x, 0.0);
  if (call.has(6)) likely = ((call[6] - 1.0) * target + 1.0) * likely;
  return reduced(call, weighted((1.0 - target) * x + likely, call[2]));
}

Value xlogx(const Value& x) {
  return fxjit::where(fxjit::eq(x, 0), 0.0, x * fxjit::log(x));
}

Value kl_div(const OpCall& call) {
  const Value &x = call[0], &target = call[1];
  const Value loss = call.flag(5) ? fxjit::exp(target) * (target - x)
                                  : xlogx(target) - target * x;
  if (reduction_of(call, true) == "batchmean")
    return fxjit::sum(loss) / double(meta_of(x).sizes()[0]);
  return reduced(call, loss);
}

Value poisson_nll_loss(const OpCall& call) {
  const Value &x = call[0], &target = call[1];
  Value loss = call.flag(2) ? fxjit::exp(x) - target * x
                            : x - target * fxjit::log(x + call.number(5));
  if (call.flag(3)) {
    const Value stirling = target * fxjit::log(target) - target +
                           0.5 * (fxjit::log(target) + kLn2Pi);
    loss = loss + fxjit::where(target <= 1, 0.0, stirling);
  }
  return reduced(call, loss);
}

Value gaussian_nll_loss(const OpCall& call) {
  const Tensor input = meta_of(call[0]), spread = meta_of(call[2]);
  Value variance = call[2];
  if (spread.dim() == input.dim() - 1)
    variance = fxjit::unsqueeze(variance, -1);
  variance = fxjit::clamp_min(variance, call[4]);
  const Value distance = call[0] - call[1];
  Value loss = 0.5 * (fxjit::log(variance) + distance * distance / variance);
  if (call.flag(3)) loss = loss + 0.5 * kLn2Pi;
  return reduced(call, loss);
}

Value hinge_embedding_loss(const OpCall& call) {
  const Value &x = call[0], &target = call[1];
  const Value apart = fxjit::clamp_min(call.number(2) - x, 0.0);
  return reduced(call, fxjit::where(target != 1, apart, 0.0) +
                           fxjit::where(target != -1, x, 0.0));
}

Value margin_ranking_loss(const OpCall& call) {
  return reduced(
      call,
      fxjit::clamp_min(-call[2] * (call[0] - call[1]) + call.number(3), 0.0));
}

Value soft_margin_loss(const OpCall& call) {
  return reduced(call, fxjit::log1p(fxjit::exp(-call[1] * call[0])));
}

Value multilabel_soft_margin_loss(const OpCall& call) {
  const auto log_sigmoid = [](const Value& x) {
    return function("torch.nn.functional.logsigmoid", {x});
  };
  const Value &x = call[0], &target = call[1];
  const Value loss =
      -(target * log_sigmoid(x) + (1.0 - target) * log_sigmoid(-x));
  return reduced(call, fxjit::mean(weighted(loss, call[2]), -1));
}

constexpr OpRow kLossesRows[] = {
    composed_row(
        "mse_loss",
        "input, target, size_average=None, reduce=None, reduction='mean', "
        "weight=None",
        "F.mse_loss! nn.MSELoss", mse_loss),
    composed_row(
        "l1_loss",
        "input, target, size_average=None, reduce=None, reduction='mean'",
        "F.l1_loss! nn.L1Loss", l1_loss),
    composed_row(
        "smooth_l1_loss",
        "input, target, size_average=None, reduce=None, reduction='mean', "
        "beta=1.0",
        "F.smooth_l1_loss! nn.SmoothL1Loss", smooth_l1_loss),
    composed_row("huber_loss",
                 "input, target, reduction='mean', delta=1.0, weight=None",
                 "F.huber_loss! nn.HuberLoss", huber_loss),
    composed_row("binary_cross_entropy",
                 "input, target, weight=None, size_average=None, reduce=None, "
                 "reduction='mean'",
                 "F.binary_cross_entropy! nn.BCELoss", binary_cross_entropy)
        .stating({.layout = Layout::first}),
    composed_row("binary_cross_entropy_with_logits",
                 "input, target, weight=None, size_average=None, reduce=None, "
                 "reduction='mean', pos_weight=None",
                 "F.binary_cross_entropy_with_logits! nn.BCEWithLogitsLoss",
                 binary_cross_entropy_with_logits),
    composed_row(
        "kl_div",
        "input, target, size_average=None, reduce=None, reduction='mean', "
        "log_target=False",
        "F.kl_div! nn.KLDivLoss", kl_div),
    composed_row(
        "poisson_nll_loss",
        "input, target, log_input=True, full=False, size_average=None, "
        "eps=1e-08, reduce=None, reduction='mean'",
        "F.poisson_nll_loss! nn.PoissonNLLLoss", poisson_nll_loss),
    composed_row("gaussian_nll_loss",
                 "input, target, var, full=False, eps=1e-06, reduction='mean'",
                 "F.gaussian_nll_loss! nn.GaussianNLLLoss", gaussian_nll_loss),
    composed_row("hinge_embedding_loss",
                 "input, target, margin=1.0, size_average=None, reduce=None, "
                 "reduction='mean'",
                 "F.hinge_embedding_loss! nn.HingeEmbeddingLoss",
                 hinge_embedding_loss),
    composed_row(
        "margin_ranking_loss",
        "input1, input2, target, margin=0, size_average=None, reduce=None, "
        "reduction='mean'",
        "F.margin_ranking_loss! nn.MarginRankingLoss", margin_ranking_loss),
    composed_row(
        "soft_margin_loss",
        "input, target, size_average=None, reduce=None, reduction='mean'",
        "F.soft_margin_loss! nn.SoftMarginLoss", soft_margin_loss)
        .stating({.layout = Layout::first}),
    composed_row("multilabel_soft_margin_loss",
                 "input, target, weight=None, size_average=None, reduce=None, "
                 "reduction='mean'",
                 "F.multilabel_soft_margin_loss! nn.MultiLabelSoftMarginLoss",
                 multilabel_soft_margin_loss),
};

}  // namespace

std::span<const OpRow> loss_rows() { return kLossesRows; }

}  // namespace fxjit::ops
