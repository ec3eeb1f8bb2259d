// Dropout and its variants: in evaluation the input itself, in training a
// product with random numbers that are 0 or 1 / (1 - p).
#include <cmath>

#include "fxjit/functions_structured.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"
#include "src/ops/table/op_call.h"

namespace fxjit::ops {
namespace {

bool drops(const OpCall& call, const Tensor& input) {
  return call.flag(2) && call.number(1) != 0 && input.numel() > 0;
}

Value infer_dropout(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  const double p = call.number(1);
  if (!(p >= 0 && p <= 1)) {
    const std::string text =
        "dropout probability has to be between 0 and 1, but got " +
        repr(call[1]);
    throw ValueError(text);
  }
  if (!drops(call, input)) return as_meta(input);
  if (!is_floating(input.dtype()))
    runtime_error("result type Float can't be cast to the desired output type ",
                  torch_type_name(input.dtype()));
  return Tensor::meta(input.sizes(), input.dtype());
}

// Ones where elements stay. With the first `kept` dims only, or all if
// negative; a view of the input gives the shape, so that a traced call stays
// one.
Value kept_ones(const OpCall& call, int kept) {
  Value shape = call[0];
  if (kept >= 0)
    for (int d = kept; d < meta_of(call[0]).dim(); ++d)
      shape = fxjit::narrow(shape, d, 0, 1);
  return function("aten.bernoulli.p", {shape, 1 - call.number(1)});
}

Value scaled_product(const OpCall& call, int kept) {
  const double p = call.number(1);
  if (p == 1) return call[0] * 0.0;
  return call[0] * (kept_ones(call, kept) / (1 - p));
}

// Dropped elements become the least value of SELU, and the results are scaled
// and moved so that mean and variance stay.
Value alpha_product(const OpCall& call, int kept) {
  constexpr double kAlpha = 1.7580993408473766;
  const double p = call.number(1);
  if (p == 1) return call[0] * 0.0;
  const double a = 1 / std::sqrt((kAlpha * kAlpha * p + 1) * (1 - p));
  const Value ones = kept_ones(call, kept);
  const Value moved = (ones + -1) * (kAlpha * a) + kAlpha * a * p;
  return call[0] * (ones * a) + moved;
}

// Dims of the input that have random numbers of their own: batch and channels,
// channels alone where `unbatched` dims tell that there is no batch.
int feature_dims(const OpCall& call, int unbatched) {
  const int rank = meta_of(call[0]).dim();
  if (rank < 2 && call.op.name() != "dropout1d")
    runtime_error(
        "Feature dropout requires at least 2 dimensions in the input");
  return rank == unbatched ? 1 : 2;
}

template <Value (*kProduct)(const OpCall&, int)>
Value all_elements(const OpCall& call) {
  if (!drops(call, meta_of(call[0]))) return call[0];
  return kProduct(call, -1);
}

template <Value (*kProduct)(const OpCall&, int), int kUnbatched>
Value features(const OpCall& call) {
  if (!drops(call, meta_of(call[0]))) return call[0];
  return kProduct(call, feature_dims(call, kUnbatched));
}

template <DecomposeFn kRun>
Value eager_dropout(const OpCall& call) {
  infer_dropout(call);
  const Value result = kRun(call);
  if (!call.flag(3) || result.as_tensor().is(call.tensor(0))) return result;
  call.tensor(0).copy_from(result.as_tensor());
  return call[0];
}

template <DecomposeFn kRun>
constexpr OpRow dropout_row(const char* name, const char* names) {
  return {.name = name,
          .schema = "input, p=0.5, training=True, inplace=False",
          .names = names,
          .lowering = Lowering::view,
          .infer = infer_dropout,
          .eager = eager_dropout<kRun>,
          .decompose = kRun,
          .purity = Purity::random,
          .facts = {.aliasing = Aliasing::inactive}};
}

// (result, which elements stayed).
Value native_dropout(const OpCall& call) {
  const Value& x = call[0];
  const double p = call.number(1);
  const bool training = !call.has(2) || call.flag(2);
  const Tensor meta = meta_of(x);
  if (!training || meta.numel() == 0)
    return Value::tuple({fxjit::clone(x), method(fxjit::ones_like(x), "bool")});
  const Value ones = kept_ones(call, -1);
  const double scale = p == 1 ? 0 : 1 / (1 - p);
  return Value::tuple({x * ones * scale, method(ones, "bool")});
}

constexpr OpRow kDropoutsRows[] = {
    dropout_row<all_elements<scaled_product>>(
        "dropout", "F.dropout! torch.dropout nn.Dropout"),
    dropout_row<features<scaled_product, 2>>("dropout1d",
                                             "F.dropout1d! nn.Dropout1d"),
    dropout_row<features<scaled_product, 0>>(
        "dropout2d", "F.dropout2d! torch.feature_dropout nn.Dropout2d"),
    dropout_row<features<scaled_product, 4>>("dropout3d",
                                             "F.dropout3d! nn.Dropout3d"),
    dropout_row<all_elements<alpha_product>>(
        "alpha_dropout",
        "F.alpha_dropout! torch.alpha_dropout nn.AlphaDropout"),
    dropout_row<features<alpha_product, 0>>(
        "feature_alpha_dropout",
        "F.feature_alpha_dropout! torch.feature_alpha_dropout "
        "nn.FeatureAlphaDropout"),
    composed_row("native_dropout", "input, p, train", "torch.native_dropout",
                 native_dropout, Purity::random),
};

}  // namespace

std::span<const OpRow> dropout_rows() { return kDropoutsRows; }

}  // namespace fxjit::ops
