#include "src/ops/table/op_facts.h"

#include "src/ops/table/recurrence.h"
#include "src/ops/table/row_facts.h"

namespace fxjit::ops {
namespace {

// Every row and direction has the product with the state, that with the input
// where the call has it, and the projection.
double recurrence_flops(const OpCall& call) {
  const Recurrence form = Recurrence::read(call);
  const auto hidden = static_cast<double>(form.hidden);
  const auto width = static_cast<double>(form.width);
  const auto depth = static_cast<double>(form.width + form.features);
  const double products = static_cast<double>(form.gates()) * hidden * depth +
                          (form.projected ? hidden * width : 0);
  return 2 * static_cast<double>(form.rows * form.directions) * products;
}

constexpr ProductRoles kLinear{.added = 2, .right_by_column = true};
constexpr ProductRoles kAdded{
    .left = 1, .right = 2, .added = 0, .beta = 3, .alpha = 4};

constexpr OpFacts product(const ProductRoles& roles = {}) {
  return {.product = roles, .native = NativeCalls::products};
}
constexpr OpFacts gather(const GatherRoles& roles) { return {.gather = roles}; }
constexpr OpFacts update(UpdateKind kind) { return {.update = kind}; }
constexpr OpFacts sizes(SizeKind kind, int argument = 0) {
  return {.sizes = {kind, argument}};
}

constexpr OpFacts kProducts{.native = NativeCalls::products};
constexpr OpFacts kSingle{.native = NativeCalls::single};
constexpr OpFacts kQuotients{.native = NativeCalls::quotients};
constexpr OpFacts kUndetermined{.undetermined = true};
constexpr OpFacts kOfSizes{.of_sizes = true};

constexpr RowFacts<OpFacts>::Group kFacts[] = {
    {product(kLinear), "linear"},
    {product(), "matmul mm bmm mv dot"},
    {product(kAdded), "addmm baddbmm"},
    {product(kLinear), "fxjit.merged_linear"},
    // Composed of products.
    {kProducts,
     "addbmm addmv affine_grid bilinear einsum inner linalg_matrix_power "
     "tensordot vdot"},

    {gather({.kind = GatherKind::rows, .table = 1, .index = 0}), "embedding"},
    {gather({.kind = GatherKind::slices, .index = 2, .dim = 1}),
     "index_select"},
    {{.gather = {.kind = GatherKind::elements, .index = 2, .dim = 1},
      .native = NativeCalls::elements},
     "gather fxjit.lookup"},
    {{.native = NativeCalls::elements}, "take_along_dim"},

    {update(UpdateKind::entries), "index_put"},
    {update(UpdateKind::slices), "index_copy index_add"},
    {update(UpdateKind::elements), "scatter scatter_reduce"},
    {update(UpdateKind::view), "fxjit.put_view"},

    {kSingle,
     "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d "
     "convolution max_pool1d max_pool2d max_pool3d max_pool1d_with_indices "
     "max_pool2d_with_indices max_pool3d_with_indices avg_pool1d avg_pool2d "
     "avg_pool3d"},
    // Composed of pooling.
    {kSingle, "lp_pool1d lp_pool2d"},

    {kQuotients, "div floor_divide remainder fmod"},

    {{.native = NativeCalls::sums, .routine = RoutineKind::running_sums},
     "cumsum"},
    {{.routine = RoutineKind::copies}, "fxjit.materialize"},
    {{.routine = RoutineKind::recurrence, .flops = recurrence_flops},
     "fxjit.recurrence"},

    {sizes(SizeKind::written), "tensor"},
    {sizes(SizeKind::same), "to"},
    {sizes(SizeKind::joined), "cat"},
    {sizes(SizeKind::inserted, 1), "unsqueeze"},
    {sizes(SizeKind::reshaped, 1), "reshape view"},
    {sizes(SizeKind::listed, 1), "expand"},
    {sizes(SizeKind::listed), "full"},
    {sizes(SizeKind::permuted, 1), "permute"},
    {kUndetermined, "empty new_empty"},
    {kOfSizes, "size dim numel"},

    {{.rounds = true}, "cast"},
    {{.widens = true}, "fxjit.dequantize"},
    {{.copied = 1}, "copy"},
    {{.pure = "copy"}, "copy_"},
    {{.pure = "full_like"}, "fill_"},
    {{.pure = "zeros_like"}, "zero_"},
};

}  // namespace

const OpFacts& facts_of(const Op& op) {
  static const auto* const known = new RowFacts<OpFacts>(kFacts);
  static constexpr OpFacts kNone;
  const OpFacts* const found = known->find(op.name());
  return found ? *found : kNone;
}

bool tells_sizes(const Spelling& method) {
  return facts_of(*method.op).of_sizes && method.name != "ndimension";
}

}  // namespace fxjit::ops
