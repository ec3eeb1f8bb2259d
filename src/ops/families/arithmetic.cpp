#include "src/ops/families.h"
#include "src/ops/scalar_args.h"

namespace fxjit::ops {
namespace {

Scalar add(ScalarBuilder& b, const OpCall& call, std::span<const Scalar> in) {
  const ScalarArgs args(b, call, in);
  if (same(call[2], 1)) return args[0] + args[1];
  return args[0] + args[2] * args[1];
}

constexpr OpRow kRows[] = {
    {.name = "add",
     .schema = "input, other, *, alpha=1",
     .names = "torch.add _operator.add .add .__add__ aten.add.Tensor "
              "aten.add.Scalar onnx.Add",
     .lowering = Lowering::scalar,
     .scalar = add},
};

}  // namespace

std::span<const OpRow> arithmetic_rows() { return kRows; }

}  // namespace fxjit::ops
