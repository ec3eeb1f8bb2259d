// Why nodes are not computed together: the rules of reductions, and what is
// said of any two nodes once grouping has ended.
#include "src/ops/table/op_facts.h"
#include "src/passes/fusing/grouping.h"
#include "src/passes/lowering/internal_ops.h"
#include "src/passes/lowering/lower.h"

namespace fxjit::passes {

Dims row_shape(const Group& group) {
  Dims shape = group.domain;
  const int first =
      group.inner_at >= 0 ? group.inner_at : shape.size() - group.inner_dims;
  for (int d = first; d < first + group.inner_dims; ++d) shape[d] = 1;
  return shape;
}

Apart why_no_row_reduction(const Group& group, const Dims& domain, int inner,
                           int inner_at) {
  if (group.kind == Region::Kind::contraction ||
      group.kind == Region::Kind::columns)
    return Apart::second_product;
  if (group.kind != Region::Kind::rows) return Apart::no_epilogue;
  if (group.domain != domain) return Apart::other_shape;
  if (group.inner_dims != 0 &&
      (group.inner_dims != inner || group.inner_at != inner_at))
    return Apart::other_rows;
  const bool plain_rows = inner == 1 && inner_at < 0;
  return !plain_rows && group.indexed ? Apart::positions : Apart::none;
}

Apart why_no_column_reduction(const Grouping& grouping, int32_t index,
                              const fx::Node& reduction, const Dims& domain) {
  const Group& group = grouping.groups[static_cast<size_t>(index)];
  if (group.kind == Region::Kind::contraction ||
      group.kind == Region::Kind::columns)
    return Apart::second_product;
  if (group.kind != Region::Kind::rows) return Apart::no_epilogue;
  if (group.inner_dims != 0) return Apart::other_rows;
  if (group.domain != domain) return Apart::other_shape;
  if (group.indexed) return Apart::positions;
  for (const fx::Node* member : group.nodes) {
    if (is_element_gather(*member)) return Apart::picked;
    for (const fx::Node* user : member->users())
      if (user != &reduction && grouping.group_of[user->id()] != index)
        return Apart::read_by_others;
  }
  return Apart::none;
}

bool is_read_later(const Grouping& grouping, const fx::Node& node,
                   int32_t index) {
  const auto widens = [](const fx::Node& value) {
    return value.called_op() && ops::facts_of(*value.called_op()).widens;
  };
  const auto is_later = [&](const fx::Node* value) {
    int32_t of = grouping.group_of[value->id()];
    if (of < 0 && widens(*value))
      of = grouping.group_of[value->arg_node(0)->id()];
    return of > index && grouping.groups[static_cast<size_t>(of)].kind ==
                             Region::Kind::contraction;
  };
  if (!widens(node)) return false;
  for (const fx::Node* user : node.users())
    if (user->called_op() &&
        user->called_op()->row.lowering == ops::Lowering::scalar)
      for (const fx::Node* input : user->all_input_nodes())
        if (is_later(input)) return true;
  return false;
}

Apart Grouping::apart(const fx::Node& value, const fx::Node& reader) const {
  if (value.called_op() == &as_strided_op())
    return apart(*value.arg_node(0), reader) == Apart::none
               ? Apart::none
               : Apart::other_order;
  const int32_t from = group_of[value.id()], to = group_of[reader.id()];
  if (from < 0 || from == to || to < 0) return Apart::none;
  if (const auto found = refused.find({value.id(), reader.id()});
      found != refused.end())
    return found->second;
  const Group& group = groups[static_cast<size_t>(to)];
  for (const fx::Node* source : group.sources)
    if (source == &value)
      return group.kind == Region::Kind::contraction ? Apart::product_operand
                                                     : Apart::picked;
  if (group.kind == Region::Kind::attention) return Apart::product_operand;
  if (group.kind == Region::Kind::call || group.kind == Region::Kind::copies)
    return Apart::routine_operand;
  return Apart::other_order;
}

}  // namespace fxjit::passes
