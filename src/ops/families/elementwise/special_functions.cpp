// torch.special: gamma, error and Bessel functions, which are loops of C++, and
// entropies, which are generated code.
#include <cmath>
#include <limits>
#include <numbers>

#include "src/ops/families/elementwise/elementwise.h"
#include "src/ops/families/elementwise/function_rows.h"
#include "src/ops/families/elementwise/special_math.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {

Tensor operand_like(const Tensor& out, const Value& argument) {
  const Tensor whole = Tensor::empty(out.sizes(), out.dtype());
  whole.copy_from(argument.is_tensor()
                      ? argument.as_tensor()
                      : Tensor::full({}, argument.as_double(), out.dtype()));
  return whole;
}

namespace {

// -x * log(x), 0 at 0 and -inf below.
Scalar entr(ScalarBuilder& b, const OpCall&, Inputs in) {
  const Scalar x = in[0], zero = b.constant(0, x.type());
  const Scalar least =
      b.constant(-std::numeric_limits<double>::infinity(), x.type());
  return b.select(
      b.apply(Prim::lt, x, zero), least,
      b.select(b.apply(Prim::eq, x, zero), zero, -x * b.apply(Prim::log, x)));
}

// x * log1p(y), 0 where x is 0 and y is a number.
Scalar xlog1py(ScalarBuilder& b, const OpCall& call, Inputs in) {
  const ScalarArgs args(b, call, in);
  const Scalar x = args[0], y = args[1], zero = b.constant(0, x.type());
  const Scalar vanishes = b.apply(Prim::bit_and, b.apply(Prim::eq, x, zero),
                                  b.apply(Prim::eq, y, y));
  return b.select(vanishes, zero, x * b.apply(Prim::log1p, y));
}

// torch.polygamma(n, x), x.polygamma(n): whichever is the number is the order.
struct PolygammaArgs {
  int64_t order = 0;
  const Value& x;
};

PolygammaArgs polygamma_args(const OpCall& call) {
  const size_t order = call[0].is_number() ? 0 : 1;
  const int64_t n = call.integer(order);
  if (n < 0) runtime_error("polygamma(n, x) does not support negative n.");
  return {n, call[1 - order]};
}

Value infer_polygamma(const OpCall& call) {
  const PolygammaArgs args = polygamma_args(call);
  if (!args.x.is_tensor()) call.fail("input: expected a tensor");
  const Tensor& x = args.x.as_tensor();
  return Tensor::meta(x.sizes(),
                      is_floating(x.dtype()) ? x.dtype() : DType::f32);
}

void run_polygamma(const OpCall& call, std::span<const Tensor> results) {
  const PolygammaArgs args = polygamma_args(call);
  const Value ordered[] = {args.order, args.x};
  direct_function_of_two<polygamma_of>(
      {call.op, ordered, call.source, call.node}, results);
}

// The multivariate gamma function's logarithm: a sum of p ordinary ones.
Value mvlgamma(const OpCall& call) {
  const int64_t p = call.integer(1);
  if (p < 1) runtime_error("p has to be greater than or equal to 1");
  // A call of lgamma for each: no use is known for more.
  constexpr int64_t kMost = 4096;
  if (p > kMost) runtime_error("p has to be at most ", kMost, ", got ", p);
  const auto count = static_cast<double>(p);
  const Value& x = call[0];
  Value sum = x * 0.0 + count * (count - 1) / 4 * std::log(std::numbers::pi);
  for (int64_t j = 0; j < p; ++j)
    sum = sum + function("torch.lgamma", {x - static_cast<double>(j) / 2});
  return sum;
}

constexpr OpRow kSpecialFunctionsRows[] = {
    function_row<lgamma_of>(
        "lgamma", "torch.lgamma .lgamma torch._C._special.special_gammaln"),
    function_row<digamma_of>(
        "digamma",
        "torch.digamma .digamma torch._C._special.special_digamma "
        "torch._C._special.special_psi"),
    function_row<erfinv_of>(
        "erfinv", "torch.erfinv .erfinv torch._C._special.special_erfinv"),
    function_row<erfc_of>("erfc",
                          "torch.erfc .erfc torch._C._special.special_erfc"),
    function_row<erfcx_of>("special_erfcx", "torch._C._special.special_erfcx"),
    function_row<ndtr_of>("special_ndtr", "torch._C._special.special_ndtr"),
    function_row<ndtri_of>("special_ndtri", "torch._C._special.special_ndtri"),
    function_row<log_ndtr_of>("special_log_ndtr",
                              "torch._C._special.special_log_ndtr"),
    function_row<i0_of>("i0", "torch.i0 .i0 torch._C._special.special_i0"),
    function_row<i0e_of>("special_i0e", "torch._C._special.special_i0e"),
    function_row<i1_of>("special_i1", "torch._C._special.special_i1"),
    function_row<i1e_of>("special_i1e", "torch._C._special.special_i1e"),
    function_row("special_zeta", "input, other",
                 "torch._C._special.special_zeta",
                 direct_function_of_two<zeta_of>),
    function_row("igamma", "input, other",
                 "torch.igamma .igamma torch._C._special.special_gammainc",
                 direct_function_of_two<igamma_of>),
    function_row("igammac", "input, other",
                 "torch.igammac .igammac torch._C._special.special_gammaincc",
                 direct_function_of_two<igammac_of>),
    unary_row("special_entr", "torch._C._special.special_entr", entr, kFloat),
    binary_row("special_xlog1py", "torch._C._special.special_xlog1py", xlog1py,
               kFloat),
    direct_row("polygamma", "n, input",
               "torch.polygamma .polygamma torch._C._special.special_polygamma",
               infer_polygamma, run_polygamma)
        .stating({.layout = Layout::elementwise}),
    composed_row(
        "mvlgamma", "input, p",
        "torch.mvlgamma .mvlgamma torch._C._special.special_multigammaln",
        mvlgamma)
        .stating({.layout = Layout::plain}),
};

}  // namespace

std::span<const OpRow> special_function_rows() { return kSpecialFunctionsRows; }

}  // namespace fxjit::ops
