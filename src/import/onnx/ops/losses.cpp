// Losses of classes.
#include "src/import/onnx/ops/families.h"

namespace fxjit::onnx {
namespace {

Value reduced(const Call& call, const Value& loss, const Value& weights) {
  const std::string reduction = call.text("reduction", "mean");
  if (reduction == "none") return loss;
  if (reduction == "sum") return sum(loss);
  if (reduction != "mean")
    call.fail("reduction: \"" + reduction + "\" is unknown");
  return weights.is_none() ? mean(loss) : sum(loss) / sum(weights);
}

// The weighted negative of each target's log-probability; ignored targets give
// none and weigh none.
Value nll(const Call& call, const Value& logs) {
  const Value target = cast(call, call[1], DType::i64);
  const DType dtype = call.dtype_of(logs);
  Value weights, places = target;
  const bool ignores = call.has_attribute("ignore_index");
  Value ignored;
  if (ignores) {
    ignored = eq(target, call.integer("ignore_index"));
    places = masked_fill(target, ignored, 0);
  }
  if (call.has(2))
    weights = function("torch.ops.aten.index.Tensor",
                       {call[2], Value::list({places})});
  if (ignores) {
    if (weights.is_none()) weights = ones_like(places, dtype);
    weights = masked_fill(weights, ignored, 0.0);
  }
  Value loss = -squeeze(gather(logs, 1, unsqueeze(places, 1)), 1);
  if (!weights.is_none()) loss = loss * weights;
  return reduced(call, loss, weights);
}

Results negative_log_likelihood(Call& call) { return nll(call, call[0]); }

Results softmax_cross_entropy(Call& call) {
  const Value logs = log_softmax(call[0], 1);
  return std::vector<Operand>{nll(call, logs), logs};
}

constexpr OpRow kLossesOps[] = {
    {.op = "NegativeLogLikelihoodLoss",
     .since = 12,
     .run = negative_log_likelihood},
    {.op = "SoftmaxCrossEntropyLoss",
     .since = 12,
     .run = softmax_cross_entropy},
};

}  // namespace

std::span<const OpRow> loss_rows() { return kLossesOps; }

}  // namespace fxjit::onnx
