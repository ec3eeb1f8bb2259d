// Comparisons and predicates; results are bool.
#include <limits>

#include "src/ops/families/elementwise/elementwise.h"
#include "src/ops/families/shared/numbers.h"
#include "src/ops/families/shared/rounded.h"
#include "src/ops/table/families.h"
#include "src/ops/table/promote.h"

namespace fxjit::ops {
namespace {

Scalar truth(ScalarBuilder& b, bool value) {
  return b.constant_int(value, DType::boolean);
}

Scalar isnan(ScalarBuilder& b, const OpCall&, Inputs in) {
  if (!is_floating(in[0].type())) return truth(b, false);
  return b.apply(Prim::ne, in[0], in[0]);
}

Scalar isinf(ScalarBuilder& b, const OpCall&, Inputs in) {
  if (!is_floating(in[0].type())) return truth(b, false);
  return b.apply(Prim::eq, b.apply(Prim::abs, in[0]),
                 b.constant(kInfinity, in[0].type()));
}

Scalar isfinite(ScalarBuilder& b, const OpCall&, Inputs in) {
  if (!is_floating(in[0].type())) return truth(b, true);
  return b.apply(Prim::lt, b.apply(Prim::abs, in[0]),
                 b.constant(kInfinity, in[0].type()));
}

// Numbers are compared in the type of the tensors, as torch does: an element of
// bfloat16 equals the number that it was made from.
template <Prim kPrim>
Scalar compare(ScalarBuilder& b, const OpCall& call, Inputs in) {
  const ScalarArgs args(b, call, in);
  const DType type = scalar_typing(call).inputs;
  const auto side = [&](size_t i) {
    return call[i].is_number() && is_floating(type)
               ? rounded_number(b, call.number(i), type)
               : args[i];
  };
  return b.apply(kPrim, side(0), side(1));
}

constexpr ScalarTypes kCompare = ScalarTypes::compare;
constexpr ScalarTypes kLogical = ScalarTypes::logical;

constexpr OpRow kComparisonRows[] = {
    binary_row("eq", "torch.eq _operator.eq .eq .__eq__", compare<Prim::eq>,
               kCompare),
    binary_row("ne",
               "torch.ne torch.not_equal _operator.ne .ne .not_equal .__ne__",
               compare<Prim::ne>, kCompare),
    binary_row("lt", "torch.lt torch.less _operator.lt .lt .less .__lt__",
               compare<Prim::lt>, kCompare),
    binary_row("le",
               "torch.le torch.less_equal _operator.le .le .less_equal .__le__",
               compare<Prim::le>, kCompare),
    binary_row("gt", "torch.gt torch.greater _operator.gt .gt .greater .__gt__",
               compare<Prim::gt>, kCompare),
    binary_row("ge",
               "torch.ge torch.greater_equal _operator.ge .ge .greater_equal "
               ".__ge__",
               compare<Prim::ge>, kCompare),
    unary_row("isnan", "torch.isnan .isnan", isnan, kCompare),
    unary_row("isinf", "torch.isinf .isinf", isinf, kCompare),
    unary_row("isfinite", "torch.isfinite .isfinite", isfinite, kCompare),
    binary_row("logical_and", "torch.logical_and .logical_and",
               binary<Prim::bit_and>, kLogical),
    binary_row("logical_or", "torch.logical_or .logical_or",
               binary<Prim::bit_or>, kLogical),
    binary_row("logical_xor", "torch.logical_xor .logical_xor",
               binary<Prim::bit_xor>, kLogical),
    unary_row("logical_not", "torch.logical_not .logical_not",
              unary<Prim::bit_not>, kLogical),
};

}  // namespace

std::span<const OpRow> comparison_rows() { return kComparisonRows; }

}  // namespace fxjit::ops
