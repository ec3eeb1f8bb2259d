// Losses of classes: nll_loss and cross_entropy, with weights of the classes,
// an index that is left out, and smoothed labels.
#include "fxjit/functions_structured.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

struct Classes {
  Value log_probabilities;  // [N, C, ...].
  Value target;             // [N, ...], class numbers.
  Value weight;             // [C] or none.
  int64_t ignored = -100;
  std::string reduction;
  bool single = false;  // The input had no batch dim.
};

// [C] as a shape that broadcasts over [N, C, ...].
Value along_classes(const Value& weight, int rank) {
  Dims shape(rank, 1);
  shape[1] = meta_of(weight).sizes()[0];
  return fxjit::reshape(weight, shape);
}

void check_target(const Tensor& input, const Tensor& target) {
  if (is_floating(target.dtype()) || target.dtype() == DType::boolean)
    runtime_error("expected scalar type Long but found ",
                  torch_type_name(target.dtype()));
  Dims expected = input.sizes();
  expected.erase(1);
  if (input.dim() == 2 && target.dim() == 1 && !(target.sizes() == expected))
    throw ValueError(concat("Expected input batch_size (", expected[0],
                            ") to match target batch_size (", target.sizes()[0],
                            ")."));
  if (!(target.sizes() == expected))
    throw ValueError("Expected target size " + expected.str() + ", got " +
                     target.sizes().str());
}

Value finished(const Classes& c, const Value& loss) {
  return c.single && c.reduction == "none" ? fxjit::squeeze(loss, 0) : loss;
}

// Which targets count, and what each of them weighs.
struct Counted {
  Value safe;     // Targets, class 0 in the place of those left out.
  Value counts;   // Bools.
  Value weights;  // Numbers of the input's dtype, 0 where left out.
};

Counted counted(const Classes& c) {
  const DType dtype = meta_of(c.log_probabilities).dtype();
  const Value target = cast_to(c.target, DType::i64);
  Counted result;
  result.counts = fxjit::ne(target, c.ignored);
  result.safe = fxjit::where(result.counts, target, 0);
  if (c.weight.is_none()) {
    result.weights = cast_to(result.counts, dtype);
  } else {
    const Value picked = fxjit::index(c.weight, Value::list({result.safe}));
    result.weights = fxjit::where(result.counts, picked, 0.0);
  }
  return result;
}

Value averaged(const Classes& c, const Counted& at, const Value& loss) {
  if (c.reduction == "none") return loss;
  const Value total = fxjit::sum(loss);
  return c.reduction == "sum" ? total : total / fxjit::sum(at.weights);
}

Value negative_log_likelihood(const Classes& c, const Counted& at) {
  const Value picked = fxjit::squeeze(
      fxjit::gather(c.log_probabilities, 1, fxjit::unsqueeze(at.safe, 1)), 1);
  const Value loss = fxjit::where(at.counts, -picked * at.weights, 0.0);
  return averaged(c, at, loss);
}

// What smoothing spreads over all classes.
Value spread_loss(const Classes& c, const Counted& at) {
  Value all = -c.log_probabilities;
  if (!c.weight.is_none())
    all = all * along_classes(c.weight, meta_of(all).dim());
  const Value loss = fxjit::where(at.counts, fxjit::sum(all, 1), 0.0);
  return averaged(c, at, loss);
}

Value class_loss(const Classes& c, double smoothing) {
  const Tensor input = meta_of(c.log_probabilities);
  check_target(input, meta_of(c.target));
  const Counted at = counted(c);
  Value loss = negative_log_likelihood(c, at);
  if (smoothing > 0)
    loss = (1.0 - smoothing) * loss +
           smoothing / double(input.sizes()[1]) * spread_loss(c, at);
  return finished(c, loss);
}

// Targets that are probabilities themselves.
Value probabilities_loss(Classes c, double smoothing) {
  const Tensor input = meta_of(c.log_probabilities);
  if (!(input.sizes() == meta_of(c.target).sizes()))
    throw ValueError("Expected target size " + input.sizes().str() + ", got " +
                     meta_of(c.target).sizes().str());
  const double classes = double(input.sizes()[1]);
  Value target = c.target;
  if (smoothing > 0) target = target * (1.0 - smoothing) + smoothing / classes;
  Value loss = c.log_probabilities * target;
  if (!c.weight.is_none()) loss = loss * along_classes(c.weight, input.dim());
  loss = -fxjit::sum(loss, 1);
  if (c.reduction == "none") return finished(c, loss);
  const Value total = fxjit::sum(loss);
  return c.reduction == "sum" ? total
                              : total / (double(input.numel()) / classes);
}

void add_batch(Classes& c) {
  c.single = meta_of(c.log_probabilities).dim() == 1;
  if (!c.single) return;
  c.log_probabilities = fxjit::unsqueeze(c.log_probabilities, 0);
  c.target = fxjit::unsqueeze(c.target, 0);
}

Value nll_loss(const OpCall& call) {
  Classes c{call[0], call[1], call[2], call.integer(4), reduction_of(call)};
  add_batch(c);
  return class_loss(c, 0);
}

// The loss and the weight that it was divided by, 0 where it was not reduced.
Value nll_loss_forward(const OpCall& call) {
  Classes c{call[0], call[1], call[2], call.integer(4),
            std::string(call[3].as_string())};
  add_batch(c);
  const Value loss = class_loss(c, 0);
  const Value total = fxjit::sum(counted(c).weights);
  return Value::tuple(
      {loss, c.reduction == "none" ? fxjit::zeros_like(total) : total});
}

Value cross_entropy(const OpCall& call) {
  const double smoothing = call.number(7);
  if (smoothing < 0 || smoothing > 1)
    runtime_error("label_smoothing must be between 0.0 and 1.0. Got: ",
                  repr(call[7]));
  const Tensor input = meta_of(call[0]), target = meta_of(call[1]);
  const Value log_probabilities =
      fxjit::log_softmax(call[0], input.dim() == 1 ? 0 : 1);
  Classes c{log_probabilities, call[1], call[2], call.integer(4),
            reduction_of(call)};
  add_batch(c);
  return is_floating(target.dtype()) ? probabilities_loss(c, smoothing)
                                     : class_loss(c, smoothing);
}

constexpr OpRow kClassLossesRows[] = {
    composed_row("nll_loss",
                 "input, target, weight=None, size_average=None, "
                 "ignore_index=-100, reduce=None, reduction='mean'",
                 "F.nll_loss! nn.NLLLoss", nll_loss),
    inlined_row("nll_loss_forward",
                "input, target, weight, reduction, ignore_index", "",
                nll_loss_forward),
    composed_row("cross_entropy",
                 "input, target, weight=None, size_average=None, "
                 "ignore_index=-100, reduce=None, reduction='mean', "
                 "label_smoothing=0.0",
                 "F.cross_entropy! nn.CrossEntropyLoss", cross_entropy),
};

}  // namespace

std::span<const OpRow> class_loss_rows() { return kClassLossesRows; }

}  // namespace fxjit::ops
