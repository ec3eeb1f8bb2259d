// Products of matrices.
#include "src/import/onnx/ops/families.h"

namespace fxjit::onnx {
namespace {

Results gemm(Call& call) {
  const double alpha = call.real("alpha", 1), beta = call.real("beta", 1);
  const Value a = call.flag("transA", false) ? t(call[0]) : call[0];
  const bool turned = call.flag("transB", false);
  const bool plain = alpha == 1 && beta == 1;
  if (plain && (!call.has(2) || call.rank(2) == 1))
    return nn::functional::linear(a, turned ? call[1] : t(call[1]),
                                  call.optional(2));
  Value product = matmul(a, turned ? t(call[1]) : call[1]);
  if (alpha != 1) product = product * alpha;
  if (!call.has(2)) return cast(call, product, call.dtype(0));
  const Value c = beta == 1 ? call[2] : call[2] * beta;
  return cast(call, product + c, call.dtype(0));
}

Results einsum_of(Call& call) {
  return einsum(call.text("equation", ""), Value::list(call.all()));
}

constexpr OpRow kContractionsOps[] = {
    {.op = "Det", .since = 11, .function = "torch.det"},
    {.op = "Einsum", .since = 12, .run = einsum_of},
    {.op = "Gemm", .run = gemm},
    {.op = "MatMul", .function = "torch.matmul"},
};

}  // namespace

std::span<const OpRow> contraction_rows() { return kContractionsOps; }

}  // namespace fxjit::onnx
