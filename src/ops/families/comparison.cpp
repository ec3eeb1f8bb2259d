#include "src/ops/families.h"
#include "src/ops/scalar_args.h"

namespace fxjit::ops {
namespace {

template <Prim kPrim>
Scalar compare(ScalarBuilder& b, const OpCall& call,
               std::span<const Scalar> in) {
  const ScalarArgs args(b, call, in);
  return b.apply(kPrim, args[0], args[1]);
}

template <Prim kPrim>
constexpr OpRow comparison(const char* name, const char* names) {
  return {.name = name,
          .schema = "input, other",
          .names = names,
          .lowering = Lowering::scalar,
          .scalar = compare<kPrim>,
          .scalar_types = ScalarTypes::compare};
}

constexpr OpRow kRows[] = {
    comparison<Prim::eq>("eq",
                         "torch.eq _operator.eq .eq .__eq__ aten.eq.Tensor "
                         "aten.eq.Scalar onnx.Equal"),
};

}  // namespace

std::span<const OpRow> comparison_rows() { return kRows; }

}  // namespace fxjit::ops
