#include "src/ops/table/op_facts.h"

#include <unordered_map>

#include "src/ops/table/recurrence.h"

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

struct Row {
  std::string_view op;
  OpFacts facts;
};

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

constexpr Row kRows[] = {
    {"linear", product(kLinear)},
    {"matmul", product()},
    {"mm", product()},
    {"bmm", product()},
    {"mv", product()},
    {"dot", product()},
    {"addmm", product(kAdded)},
    {"baddbmm", product(kAdded)},
    {"fxjit.merged_linear", product(kLinear)},
    // Composed of products.
    {"addbmm", kProducts},
    {"addmv", kProducts},
    {"affine_grid", kProducts},
    {"bilinear", kProducts},
    {"einsum", kProducts},
    {"inner", kProducts},
    {"linalg_matrix_power", kProducts},
    {"tensordot", kProducts},

    {"embedding", gather({.kind = GatherKind::rows, .table = 1, .index = 0})},
    {"index_select",
     gather({.kind = GatherKind::slices, .index = 2, .dim = 1})},
    {"gather",
     {.gather = {.kind = GatherKind::elements, .index = 2, .dim = 1},
      .native = NativeCalls::elements}},
    {"take_along_dim", {.native = NativeCalls::elements}},

    {"index_put", update(UpdateKind::entries)},
    {"index_copy", update(UpdateKind::slices)},
    {"index_add", update(UpdateKind::slices)},
    {"scatter", update(UpdateKind::elements)},
    {"scatter_reduce", update(UpdateKind::elements)},
    {"fxjit.put_view", update(UpdateKind::view)},

    {"conv1d", kSingle},
    {"conv2d", kSingle},
    {"conv3d", kSingle},
    {"conv_transpose1d", kSingle},
    {"conv_transpose2d", kSingle},
    {"conv_transpose3d", kSingle},
    {"convolution", kSingle},
    {"max_pool1d", kSingle},
    {"max_pool2d", kSingle},
    {"max_pool3d", kSingle},
    {"max_pool1d_with_indices", kSingle},
    {"max_pool2d_with_indices", kSingle},
    {"max_pool3d_with_indices", kSingle},
    {"avg_pool1d", kSingle},
    {"avg_pool2d", kSingle},
    {"avg_pool3d", kSingle},
    // Composed of pooling.
    {"lp_pool1d", kSingle},
    {"lp_pool2d", kSingle},

    {"div", kQuotients},
    {"floor_divide", kQuotients},
    {"remainder", kQuotients},
    {"fmod", kQuotients},

    {"cumsum",
     {.native = NativeCalls::sums, .routine = RoutineKind::running_sums}},
    {"fxjit.materialize", {.routine = RoutineKind::copies}},
    {"fxjit.recurrence",
     {.routine = RoutineKind::recurrence, .flops = recurrence_flops}},

    {"tensor", sizes(SizeKind::written)},
    {"to", sizes(SizeKind::same)},
    {"cat", sizes(SizeKind::joined)},
    {"unsqueeze", sizes(SizeKind::inserted, 1)},
    {"reshape", sizes(SizeKind::reshaped, 1)},
    {"view", sizes(SizeKind::reshaped, 1)},
    {"expand", sizes(SizeKind::listed, 1)},
    {"full", sizes(SizeKind::listed)},
    {"permute", sizes(SizeKind::permuted, 1)},
    {"empty", kUndetermined},
    {"new_empty", kUndetermined},

    {"cast", {.rounds = true}},
    {"copy", {.copied = 1}},
    {"copy_", {.pure = "copy"}},
    {"fill_", {.pure = "full_like"}},
    {"zero_", {.pure = "zeros_like"}},
};

}  // namespace

const OpFacts& facts_of(const Op& op) {
  static const auto* const known = [] {
    auto* made = new std::unordered_map<std::string_view, const OpFacts*>;
    for (const Row& row : kRows) made->emplace(row.op, &row.facts);
    return made;
  }();
  static constexpr OpFacts kNone;
  const auto found = known->find(op.name());
  return found == known->end() ? kNone : *found->second;
}

}  // namespace fxjit::ops
