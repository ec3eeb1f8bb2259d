// Methods with a trailing underscore of ops that are no single scalar body: the
// op without it, written back into the first argument.
#include <string>

#include "src/ops/families/elementwise/in_place.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {

Value infer_written(const OpCall& call) { return call.tensor(0); }

namespace {

// Copies what the op `name` gives for `args` into the first argument.
Value write_result(const OpCall& call, std::string_view name,
                   std::span<const Value> args) {
  const OpCall pure{get_op(name), args, call.source, call.node};
  const Tensor result = run_eager(pure).as_tensor();
  const Tensor& self = call.tensor(0);
  if (!(result.sizes() == self.sizes()))
    output_mismatch(self.sizes(), result.sizes());
  if (is_floating(result.dtype()) && !is_floating(self.dtype()))
    runtime_error("result type ", torch_type_name(result.dtype()),
                  " can't be cast to the desired output type ",
                  torch_type_name(self.dtype()));
  self.copy_from(result);
  return call[0];
}

// (out, input, other).
Value eager_atan2_out(const OpCall& call) {
  return write_result(call, "atan2", call.args.subspan(1));
}

}  // namespace

Value eager_written(const OpCall& call) {
  std::string_view name = call.op.name();
  name.remove_suffix(1);
  return write_result(call, name, call.args);
}

namespace {

constexpr OpRow kInPlaceRows[] = {
    writer("scatter_",
           "input, dim, index, src=None, value=None, *, reduce=None",
           ".scatter_")
        .stating({.overlap = Overlap::any, .numbers = {"value"}}),
    writer("scatter_add_", "input, dim, index, src", ".scatter_add_")
        .stating({.overlap = Overlap::any}),
    writer("scatter_reduce_",
           "input, dim, index, src, reduce, *, include_self=True",
           ".scatter_reduce_")
        .stating({.overlap = Overlap::any}),
    writer("index_add_", "input, dim, index, source, *, alpha=1", ".index_add_")
        .stating({.overlap = Overlap::any, .numbers = {"alpha"}}),
    writer("index_copy_", "input, dim, index, source", ".index_copy_")
        .stating({.overlap = Overlap::any}),
    writer("index_fill_", "input, dim, index, value", ".index_fill_")
        .stating({.overlap = Overlap::beside, .numbers = {"value"}}),
    writer("index_put_", "input, indices, values, accumulate=False",
           ".index_put_ torch.index_put_")
        .stating({.overlap = Overlap::any}),
    writer("masked_scatter_", "input, mask, source", ".masked_scatter_")
        .stating({.overlap = Overlap::beside}),
    writer("cumsum_", "input, dim, *, dtype=None", ".cumsum_")
        .stating({.overlap = Overlap::ignored}),
    writer("cumprod_", "input, dim, *, dtype=None", ".cumprod_")
        .stating({.overlap = Overlap::ignored}),
    writer("tril_", "input, diagonal=0", ".tril_")
        .stating({.overlap = Overlap::ignored}),
    writer("triu_", "input, diagonal=0", ".triu_")
        .stating({.overlap = Overlap::ignored}),
    writer("erf_", "input", ".erf_ torch.erf_"),
    writer("erfc_", "input", ".erfc_ torch.erfc_"),
    writer("exp2_", "input", ".exp2_ torch.exp2_"),
    writer("expm1_", "input", ".expm1_ torch.expm1_"),
    writer("log2_", "input", ".log2_ torch.log2_"),
    writer("log10_", "input", ".log10_ torch.log10_"),
    writer("log1p_", "input", ".log1p_ torch.log1p_"),
    writer("tan_", "input", ".tan_ torch.tan_"),
    writer("eq_", "input, other", ".eq_"),
    writer("ne_", "input, other", ".ne_ .not_equal_"),
    writer("lt_", "input, other", ".lt_ .less_"),
    writer("le_", "input, other", ".le_ .less_equal_"),
    writer("gt_", "input, other", ".gt_ .greater_"),
    writer("ge_", "input, other", ".ge_ .greater_equal_"),
    writer("logical_not_", "input", ".logical_not_"),
    writer("logical_and_", "input, other", ".logical_and_"),
    writer("logical_or_", "input, other", ".logical_or_"),
    writer("acos_", "input", "torch.acos_ .acos_ torch.arccos_ .arccos_"),
    writer("acosh_", "input", "torch.acosh_ .acosh_ torch.arccosh_ .arccosh_"),
    writer("asin_", "input", "torch.asin_ .asin_ torch.arcsin_ .arcsin_"),
    writer("asinh_", "input", "torch.asinh_ .asinh_ torch.arcsinh_ .arcsinh_"),
    writer("atan_", "input", "torch.atan_ .atan_ torch.arctan_ .arctan_"),
    writer("atanh_", "input", "torch.atanh_ .atanh_ torch.arctanh_ .arctanh_"),
    writer("sinh_", "input", "torch.sinh_ .sinh_"),
    writer("cosh_", "input", "torch.cosh_ .cosh_"),
    writer("sinc_", "input", "torch.sinc_ .sinc_"),
    writer("deg2rad_", "input", "torch.deg2rad_ .deg2rad_"),
    writer("rad2deg_", "input", "torch.rad2deg_ .rad2deg_"),
    writer("lgamma_", "input", ".lgamma_"),
    writer("digamma_", "input", ".digamma_"),
    writer("erfinv_", "input", ".erfinv_"),
    writer("i0_", "input", "torch.i0_ .i0_"),
    writer("atan2_", "input, other", ".atan2_ .arctan2_"),
    writer("hypot_", "input, other", ".hypot_"),
    writer("copysign_", "input, other", ".copysign_"),
    writer("xlogy_", "input, other", ".xlogy_ torch.xlogy_"),
    writer("logical_xor_", "input, other", ".logical_xor_"),
    writer("sign_", "input", ".sign_ .sgn_"),
    writer("logit_", "input, eps=None", ".logit_ torch.logit_"),
    writer("addmm_", "input, mat1, mat2, *, beta=1, alpha=1", ".addmm_")
        .stating({.overlap = Overlap::ignored,
                  .numbers = {"alpha beta", Conversion::computed}}),
    writer("baddbmm_", "input, batch1, batch2, *, beta=1, alpha=1", ".baddbmm_")
        .stating({.overlap = Overlap::ignored,
                  .numbers = {"alpha beta", Conversion::computed}}),
    writer("nan_to_num_", "input, nan=None, posinf=None, neginf=None",
           ".nan_to_num_ torch.nan_to_num_"),
    {.name = "atan2_out",
     .schema = "out, input, other",
     .names = "",
     .infer = infer_written,
     .eager = eager_atan2_out,
     .purity = Purity::mutates},
};

}  // namespace

std::span<const OpRow> in_place_rows() { return kInPlaceRows; }

}  // namespace fxjit::ops
