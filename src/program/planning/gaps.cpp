#include "src/program/planning/gaps.h"

#include <algorithm>

#include "src/passes/fusing/loop_facts.h"
#include "src/passes/lowering/internal_ops.h"
#include "src/program/planning/builder.h"

namespace fxjit::program {
namespace {

using passes::Region;
using passes::uniform_stride;

const fx::Node& contraction_of(const Region& region) {
  for (const fx::Node* node : region.graph->nodes())
    if (node->called_op() && passes::is_contraction(*node)) return *node;
  throw InternalError("a contraction region has no contraction");
}

// Rows over one dim step evenly by themselves; a routine copies dense tensors.
bool walks_rows(const Region& region) {
  const fx::Node* call = only_call(region);
  return region.inner_dims <= 1 &&
         !(call && call->called_op() == &passes::materialize_op());
}

// Whether a product finds the rows of its left factor by one stride, and those
// of its right factors, matrices, by another.
bool reads_factor(const fx::Node& contract, const fx::Node& factor,
                  const Tensor& val) {
  const auto even = [&](int first, int last) {
    return uniform_stride(val.sizes(), val.strides(), first, last) >= 0;
  };
  const int rank = val.dim();
  const int batch = passes::contraction_batch_dims(contract);
  const bool left = contract.arg_node(0) == &factor;
  const bool right = std::ranges::any_of(
      contract.arg(1).as_sequence(),
      [&](const Value& v) { return v.is_node() && v.as_node() == &factor; });
  return (!left || (even(0, batch) && even(batch, rank - 1))) &&
         (!right || even(0, rank - 2));
}

bool reads_as_operand(const fx::Node& contraction, const fx::Node& operand,
                      const Tensor& val) {
  if (contraction.called_op() == &passes::contract_op())
    return reads_factor(contraction, operand, val);
  if (contraction.arg_node(0) != &operand) return false;
  if (contraction.called_op() != &passes::plane_product_op()) return true;
  return uniform_stride(val.sizes(), val.strides(), 2, val.dim()) == 1;
}

// Of regions that are no contractions.
bool takes_any_strides(const Region& region) {
  return region.kind == Region::Kind::columns ||
         region.kind == Region::Kind::copies ||
         (region.kind == Region::Kind::rows && walks_rows(region));
}

}  // namespace

bool reads_with_gaps(const Region& region, const fx::Node& placeholder,
                     const Tensor& val) {
  if (region.kind != Region::Kind::contraction)
    return takes_any_strides(region);
  const fx::Node& contraction = contraction_of(region);
  return std::ranges::all_of(placeholder.users(), [&](const fx::Node* user) {
    return user == &contraction
               ? reads_as_operand(contraction, placeholder, val)
               : passes::can_read_beside(contraction, val);
  });
}

bool writes_with_gaps(const Region& region, const Tensor& val) {
  return region.kind == Region::Kind::contraction
             ? passes::can_read_beside(contraction_of(region), val)
             : takes_any_strides(region);
}

}  // namespace fxjit::program
