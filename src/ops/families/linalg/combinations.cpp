// Functions that torch makes of others as well: products added to something,
// differences, sampling by Gumbel's numbers; and what complex numbers would
// need of real ones.
#include <numbers>

#include "fxjit/functions_structured.h"
#include "src/ops/families/elementwise/elementwise.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"
#include "src/ops/table/op_call.h"

namespace fxjit::ops {
namespace {

// beta * input + alpha * product, where beta 0 leaves the input out.
Value added(const OpCall& call, const Value& product) {
  const DType dtype = meta_of(call[0]).dtype();
  const Value beta = factor_of(call[3], dtype);
  const Value alpha = factor_of(call[4], dtype);
  const Value scaled = alpha.as_double() == 1 ? product : product * alpha;
  if (beta.as_double() == 0) return scaled;
  return (beta.as_double() == 1 ? call[0] : call[0] * beta) + scaled;
}

Value addmv(const OpCall& call) {
  return added(call, function("torch.mv", {call[1], call[2]}));
}

Value addr(const OpCall& call) {
  for (const size_t i : {size_t{3}, size_t{4}})
    if (!is_floating(meta_of(call[0]).dtype()) && call[i].is_float())
      runtime_error("For integral input tensors, argument ",
                    i == 3 ? "beta" : "alpha",
                    " must not be a floating point number.");
  return added(call, function("torch.outer", {call[1], call[2]}));
}

Value addbmm(const OpCall& call) {
  return added(call, fxjit::sum(function("torch.bmm", {call[1], call[2]}), 0));
}

Value ldexp(const OpCall& call) { return call[0] * fxjit::pow(2.0, call[1]); }

// Elements from `first` on, along `axis`, as many as fit.
Value part(const Value& x, int axis, int64_t first, int64_t less) {
  const Size length = meta_of(x).size(axis);
  return fxjit::narrow(x, axis, first, length - less);
}

Value diff(const OpCall& call) {
  const int rank = meta_of(call[0]).dim();
  if (rank == 0)
    runtime_error("diff expects input to be at least one-dimensional");
  const int64_t n = call.integer(1);
  if (n < 0) runtime_error("order must be non-negative but got ", n);
  const int axis = dim_arg(call, 2, rank);
  Value x = call[0];
  if (n == 0) return fxjit::clone(x);
  ValueList parts;
  if (call.has(3)) parts.push_back(call[3]);
  parts.push_back(x);
  if (call.has(4)) parts.push_back(call[4]);
  if (parts.size() > 1) x = fxjit::cat(parts, axis);
  const bool flags = meta_of(x).dtype() == DType::boolean;
  for (int64_t i = 0; i < n; ++i) {
    // Nothing is left to subtract: the argument itself, or what is made by now.
    if (meta_of(x).size(axis) == 0) return x;
    const Value next = part(x, axis, 1, 1), last = part(x, axis, 0, 1);
    x = flags ? fxjit::logical_xor(next, last) : next - last;
  }
  return x;
}

Value softmin(const OpCall& call) {
  int64_t dim = 0;
  if (call.has(1))
    dim = call.integer(1);
  else if (const int rank = meta_of(call[0]).dim(); rank == 2 || rank > 3)
    dim = 1;
  return fxjit::softmax(-call[0], dim, call[3]);
}

// The softmax of what is drawn by Gumbel's distribution around the logits; with
// `hard` a one at its greatest place.
Value gumbel_softmax(const OpCall& call) {
  const Value waited = function("aten.exponential.default", {call[0]});
  const Value gumbels = (call[0] - fxjit::log(waited)) / call[1];
  const Value soft = fxjit::softmax(gumbels, call[4]);
  if (!call.flag(2)) return soft;
  const Value place = fxjit::argmax(soft, call[4], true);
  const Value ones =
      function("torch.scatter", {fxjit::zeros_like(soft), call[4], place, 1.0});
  return ones - soft + soft;
}

Value msort(const OpCall& call) {
  return fxjit::getitem(function("torch.sort", {call[0], 0}), 0);
}

Value narrow_copy(const OpCall& call) {
  return fxjit::clone(fxjit::narrow(call[0], call[1], call[2], call[3]));
}

// The length of each slice of `v` along `dim`. (v, g, dim).
Value slice_lengths(const OpCall& call) {
  const int rank = meta_of(call[0]).dim();
  const Dims others = dims_between(0, rank, {dim_arg(call, 2, rank)});
  if (others.empty()) return fxjit::abs(call[0]);
  return function("torch.linalg.vector_norm",
                  {call[0], 2, axes_value(others), true});
}

// A weight as its direction times its length `g`: each slice of `v` along `dim`
// has a length of its own.
Value weight_norm(const OpCall& call) {
  return call[0] * (call[1] / slice_lengths(call));
}

// Also the lengths that the directions had.
Value weight_norm_interface(const OpCall& call) {
  return Value::tuple({weight_norm(call), slice_lengths(call)});
}

// The second result is what a backward pass would read.
Value log_sigmoid_forward(const OpCall& call) {
  return Value::tuple({function("torch._C._nn.log_sigmoid", {call[0]}),
                       fxjit::exp(-fxjit::abs(call[0]))});
}

// In evaluation: with the mean of the slopes that training draws.
Value rrelu(const OpCall& call) {
  if (call.flag(3))
    throw NotImplementedError("rrelu: expected training=False, got True");
  return function("torch._C._nn.leaky_relu",
                  {call[0], (call.number(1) + call.number(2)) / 2});
}

Value infer_itself(const OpCall& call) { return as_meta(call.tensor(0)); }

// The angle of a real number is 0, or pi below zero.
Scalar angle(ScalarBuilder& b, const OpCall&, Inputs in) {
  const Scalar x = in[0], zero = b.constant(0, x.type());
  const Scalar value = b.select(b.apply(Prim::lt, x, zero),
                                b.constant(std::numbers::pi, x.type()), zero);
  return b.select(b.apply(Prim::ne, x, x), x, value);
}

Layout layout_of_angle(const OpCall& call) {
  return is_complex(call.tensor(0).dtype()) ? Layout::plain
                                            : Layout::elementwise;
}

constexpr OpRow kCombinationsRows[] = {
    composed_row("addmv", "input, mat, vec, *, beta=1, alpha=1",
                 "torch.addmv .addmv", addmv)
        .stating({.numbers = {"alpha beta"}, .native = NativeCalls::products}),
    composed_row("addr", "input, vec1, vec2, *, beta=1, alpha=1",
                 "torch.addr .addr", addr)
        .stating({.layout = Layout::first, .numbers = {"alpha beta"}}),
    composed_row("addbmm", "input, batch1, batch2, *, beta=1, alpha=1",
                 "torch.addbmm .addbmm", addbmm)
        .stating({.layout = Layout::plain,
                  .numbers = {"alpha beta", Conversion::computed},
                  .native = NativeCalls::products}),
    composed_row("ldexp", "input, other", "torch.ldexp .ldexp", ldexp),
    composed_row("diff", "input, n=1, dim=-1, prepend=None, append=None",
                 "torch.diff .diff", diff)
        .stating({.aliasing = Aliasing::empty}),
    composed_row("softmin", "input, dim=None, _stacklevel=3, dtype=None",
                 "F.softmin!", softmin)
        .stating({.layout = Layout::plain}),
    composed_row("gumbel_softmax",
                 "logits, tau=1, hard=False, eps=1e-10, dim=-1",
                 "F.gumbel_softmax!", gumbel_softmax, Purity::random),
    composed_row("msort", "input", "torch.msort .msort", msort)
        .stating({.layout = Layout::first}),
    composed_row("narrow_copy", "input, dim, start, length",
                 "torch.narrow_copy .narrow_copy", narrow_copy)
        .stating({.layout = Layout::plain}),
    composed_row("_weight_norm", "v, g, dim=0", "torch._weight_norm",
                 weight_norm)
        .stating({.layout = Layout::plain}),
    inlined_row("fxjit.weight_norm_interface", "v, g, dim=0", "",
                weight_norm_interface),
    composed_row("log_sigmoid_forward", "input", "", log_sigmoid_forward)
        .stating({.layout = Layout::plain}),
    composed_row("rrelu",
                 "input, lower=0.125, upper=0.3333333333333333, "
                 "training=False",
                 "torch.rrelu", rrelu)
        .stating({.layout = Layout::plain}),
    view_row("conj", "input",
             "torch.conj .conj torch.conj_physical .conj_physical",
             infer_itself)
        .stating({.layout = Layout::elementwise, .aliasing = Aliasing::real}),
    // Conjugates are made when they are asked for.
    view_row("resolve_conj", "input",
             "torch.resolve_conj .resolve_conj torch.resolve_neg .resolve_neg",
             infer_itself),
    unary_row("angle", "torch.angle .angle", angle, ScalarTypes::promote_float)
        .stating({.layout_of = layout_of_angle}),
};

}  // namespace

std::span<const OpRow> combination_rows() { return kCombinationsRows; }

}  // namespace fxjit::ops
