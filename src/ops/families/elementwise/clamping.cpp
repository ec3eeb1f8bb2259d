// Bounds and rounding: clamp, minimum, maximum, floor, ceil, round, trunc.
#include <cmath>

#include "src/ops/families/elementwise/elementwise.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

Scalar clamp(ScalarBuilder& b, const OpCall& call, Inputs in) {
  const ScalarArgs args(b, call, in);
  if (!call.has(1) && !call.has(2))
    runtime_error(
        "torch.clamp: At least one of 'min' or 'max' must not be None");
  Scalar x = args[0];
  if (call.has(1)) x = b.apply(Prim::maximum, x, args[1]);
  if (call.has(2)) x = b.apply(Prim::minimum, x, args[2]);
  return x;
}

template <Prim kPrim>
Scalar rounding(ScalarBuilder& b, const OpCall&, Inputs in) {
  return is_floating(in[0].type()) ? b.apply(kPrim, in[0]) : in[0];
}

Scalar round(ScalarBuilder& b, const OpCall& call, Inputs in) {
  const int64_t decimals = call.integer(1);
  if (!is_floating(in[0].type())) return in[0];
  if (decimals == 0) return b.apply(Prim::round, in[0]);
  const double scale = std::pow(10.0, std::abs(double(decimals)));
  if (decimals > 0) return b.apply(Prim::round, in[0] * scale) / scale;
  return b.apply(Prim::round, in[0] / scale) * scale;
}

Scalar frac(ScalarBuilder& b, const OpCall&, Inputs in) {
  require_floating(in[0], "frac_cpu");
  return in[0] - b.apply(Prim::trunc, in[0]);
}

constexpr OpRow kClamp =
    scalar_row("clamp", "input, min=None, max=None",
               "torch.clamp torch.clip .clamp .clip", clamp)
        .stating({.numbers = {"min max"}});
constexpr OpRow kClampMin =
    scalar_row("clamp_min", "input, min", "torch.clamp_min .clamp_min",
               binary<Prim::maximum>)
        .stating({.numbers = {"min max"}});
constexpr OpRow kClampMax =
    scalar_row("clamp_max", "input, max", "torch.clamp_max .clamp_max",
               binary<Prim::minimum>)
        .stating({.numbers = {"min max"}});
constexpr OpRow kFloor =
    unary_row("floor", "torch.floor .floor", rounding<Prim::floor>);
constexpr OpRow kCeil =
    unary_row("ceil", "torch.ceil .ceil", rounding<Prim::ceil>);
constexpr OpRow kRound =
    scalar_row("round", "input, *, decimals=0",
               "torch.round .round torch._C._special.special_round", round);
constexpr OpRow kTrunc = unary_row("trunc", "torch.trunc torch.fix .trunc .fix",
                                   rounding<Prim::trunc>);
constexpr OpRow kFrac = unary_row("frac", "torch.frac .frac", frac);

constexpr OpRow kClampingRows[] = {
    binary_row("minimum", "torch.minimum .minimum", binary<Prim::minimum>),
    binary_row("maximum", "torch.maximum .maximum", binary<Prim::maximum>),
    kClamp,
    kClampMin,
    kClampMax,
    kFloor,
    kCeil,
    kRound,
    kTrunc,
    kFrac,
    in_place(kClamp, "clamp_", "torch.clamp_ torch.clip_ .clamp_ .clip_"),
    in_place(kClampMin, "clamp_min_", "torch.clamp_min_ .clamp_min_"),
    in_place(kClampMax, "clamp_max_", "torch.clamp_max_ .clamp_max_"),
    in_place(kFloor, "floor_", "torch.floor_ .floor_"),
    in_place(kCeil, "ceil_", "torch.ceil_ .ceil_"),
    in_place(kRound, "round_", "torch.round_ .round_"),
    in_place(kTrunc, "trunc_", "torch.trunc_ torch.fix_ .trunc_ .fix_"),
    in_place(kFrac, "frac_", "torch.frac_ .frac_"),
};

}  // namespace

std::span<const OpRow> clamping_rows() { return kClampingRows; }

}  // namespace fxjit::ops
