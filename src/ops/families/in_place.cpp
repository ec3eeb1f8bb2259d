// Methods with a trailing underscore of ops that are no single scalar body: the
// op without it, written back into the first argument.
#include <string>

#include "src/ops/families.h"
#include "src/ops/families/composition.h"
#include "src/ops/families/structured.h"

namespace fxjit::ops {
namespace {

Value infer_written(const OpCall& call) { return call.tensor(0); }

Value eager_written(const OpCall& call) {
  std::string_view name = call.op.name();
  name.remove_suffix(1);
  OpCall pure{get_op(name), call.args, call.source, call.node};
  const Tensor result = run_eager(pure).as_tensor();
  const Tensor& self = call.tensor(0);
  if (!(result.sizes() == self.sizes()))
    runtime_error("output with shape " + self.sizes().str() +
                  " doesn't match the broadcast shape " + result.sizes().str());
  if (is_floating(result.dtype()) && !is_floating(self.dtype()))
    runtime_error(std::string("result type ") +
                  torch_type_name(result.dtype()) +
                  " can't be cast to the desired output type " +
                  torch_type_name(self.dtype()));
  self.copy_from(result);
  return call[0];
}

constexpr OpRow writer(const char* name, const char* schema,
                       const char* names) {
  return {.name = name,
          .schema = schema,
          .names = names,
          .infer = infer_written,
          .eager = eager_written,
          .purity = Purity::mutates};
}

constexpr OpRow kRows[] = {
    writer("scatter_",
           "input, dim, index, src=None, value=None, *, reduce=None",
           ".scatter_"),
    writer("scatter_add_", "input, dim, index, src", ".scatter_add_"),
    writer("scatter_reduce_",
           "input, dim, index, src, reduce, *, include_self=True",
           ".scatter_reduce_"),
    writer("index_add_", "input, dim, index, source, *, alpha=1",
           ".index_add_"),
    writer("index_copy_", "input, dim, index, source", ".index_copy_"),
    writer("index_fill_", "input, dim, index, value", ".index_fill_"),
    writer("index_put_", "input, indices, values, accumulate=False",
           ".index_put_ torch.index_put_ aten.index_put_.default"),
    writer("masked_scatter_", "input, mask, source", ".masked_scatter_"),
    writer("cumsum_", "input, dim, *, dtype=None", ".cumsum_"),
    writer("cumprod_", "input, dim, *, dtype=None", ".cumprod_"),
    writer("tril_", "input, diagonal=0", ".tril_"),
    writer("triu_", "input, diagonal=0", ".triu_"),
    writer("erf_", "input", ".erf_ torch.erf_"),
    writer("erfc_", "input", ".erfc_ torch.erfc_"),
    writer("exp2_", "input", ".exp2_ torch.exp2_"),
    writer("expm1_", "input", ".expm1_ torch.expm1_"),
    writer("log2_", "input", ".log2_ torch.log2_"),
    writer("log10_", "input", ".log10_ torch.log10_"),
    writer("log1p_", "input", ".log1p_ torch.log1p_"),
    writer("tan_", "input", ".tan_ torch.tan_"),
    writer("eq_", "input, other", ".eq_"),
    writer("ne_", "input, other", ".ne_"),
    writer("lt_", "input, other", ".lt_"),
    writer("le_", "input, other", ".le_"),
    writer("gt_", "input, other", ".gt_"),
    writer("ge_", "input, other", ".ge_"),
    writer("logical_not_", "input", ".logical_not_"),
    writer("logical_and_", "input, other", ".logical_and_"),
    writer("logical_or_", "input, other", ".logical_or_"),
    writer("nan_to_num_", "input, nan=None, posinf=None, neginf=None",
           ".nan_to_num_ torch.nan_to_num_"),
};

}  // namespace

std::span<const OpRow> in_place_rows() { return kRows; }

}  // namespace fxjit::ops
