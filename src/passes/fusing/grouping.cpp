#include "src/passes/fusing/grouping.h"

#include <algorithm>

#include "src/ops/table/op_facts.h"
#include "src/passes/fusing/grouping_cycles.h"
#include "src/passes/fusing/inner_rows.h"
#include "src/passes/lowering/internal_ops.h"
#include "src/passes/lowering/lower.h"
#include "src/tensor/visit.h"

namespace fxjit::passes {
namespace {

using ops::Lowering;

// More would only spill registers.
constexpr size_t kMaxNodes = 128;

Lowering lowering_of(const fx::Node& node) {
  return node.called_op()->row.lowering;
}

bool has_code(const fx::Node& node) {
  const ops::Op* op = node.called_op();
  return op && op != &as_strided_op() && op != &item_op();
}

class Grouper {
 public:
  Grouper(const ModelGraph& model, const GroupingOptions& options)
      : model_(model),
        options_(options),
        cycles_(model.graph->id_bound(), out_, position_) {
    out_.group_of.assign(model.graph->id_bound(), -1);
    position_.assign(model.graph->id_bound(), 0);
  }

  Grouping run() {
    int32_t position = 0;
    for (fx::NodePtr node : model_.graph->nodes()) {
      position_[node->id()] = position++;
      if (has_code(*node)) place(node);
    }
    for (Group& group : out_.groups)
      std::sort(group.nodes.begin(), group.nodes.end(),
                [&](const fx::Node* a, const fx::Node* b) {
                  return position_[a->id()] < position_[b->id()];
                });
    return std::move(out_);
  }

 private:
  void place(fx::NodePtr node) {
    const Lowering lowering = lowering_of(*node);
    if (lowering == Lowering::scalar && !may_divide_by_zero(*node))
      place_scalar(node);
    else if (lowering == Lowering::reduce)
      place_reduction(node);
    else if (lowering == Lowering::gather)
      place_gather(node);
    else if (is_contraction(*node))
      note_sources(start(node, Region::Kind::contraction), *node);
    else if (node->called_op() == &attention_op())
      start(node, Region::Kind::attention);
    else if (lowering == Lowering::cat)
      start(node, Region::Kind::copies);
    else
      start(node, Region::Kind::call);
  }

  Group& start(fx::NodePtr node, Region::Kind kind, int inner_dims = 0) {
    Group group;
    group.kind = kind;
    if (node->val().is_tensor()) group.domain = node->val_tensor().sizes();
    group.inner_dims = inner_dims;
    group.nodes = {node};
    out_.group_of[node->id()] = static_cast<int32_t>(out_.groups.size());
    out_.groups.push_back(std::move(group));
    return out_.groups.back();
  }

  Group* group_of(const fx::Node* node) {
    const int32_t index = out_.group_of[node->id()];
    return index < 0 ? nullptr : &out_.groups[index];
  }

  // --- Elementwise nodes. ---

  void place_scalar(fx::NodePtr node) {
    std::vector<int32_t> merged;
    const bool indexed = uses_index(*node);
    bool contraction = false;
    for (fx::NodePtr input : node->all_input_nodes()) {
      const int32_t index = out_.group_of[input->id()];
      if (index < 0 || contains(merged, index)) continue;
      const Group& group = out_.groups[index];
      const bool is_contraction = group.kind == Region::Kind::contraction;
      merged.push_back(index);
      const Apart why = why_apart(merged, *node, contraction);
      if (why != Apart::none) {
        merged.pop_back();
        out_.refused[{input->id(), node->id()}] = why;
      } else {
        contraction = contraction || is_contraction;
      }
    }
    if (merged.empty())
      start(node, Region::Kind::rows);
    else
      join(merged, node);
    group_of(node)->indexed |= indexed;
  }

  // Why `node` cannot join the last of the groups `merged`. It can join all the
  // others, one of which is a contraction if `contraction` is set.
  Apart why_apart(const std::vector<int32_t>& merged, const fx::Node& node,
                  bool contraction) {
    const Group& group = out_.groups[merged.back()];
    if (group.kind == Region::Kind::contraction) {
      if (contraction) return Apart::second_product;
      if (is_cheaper_apart(node, group) ||
          is_read_later(out_, node, merged.back()))
        return Apart::cheaper_again;
    }
    if (const Apart why = accepts_scalar(group, node); why != Apart::none)
      return why;
    if (uses_index(node) && !accepts_index(group, node))
      return Apart::positions;
    if (const Apart why = fits_together(merged, node); why != Apart::none)
      return why;
    return cycles_.closes(merged, node) ? Apart::leaves_and_back : Apart::none;
  }

  // Whether reductions should compute `node` themselves rather than read it. So
  // it is if only reductions read it and the contraction stores its inputs
  // anyway: the reductions then read the inputs alone. An example is the square
  // in an RMS norm behind a residual addition.
  bool is_cheaper_apart(const fx::Node& node, const Group& contraction) {
    for (const fx::Node* user : node.users())
      if (!has_code(*user) || lowering_of(*user) != Lowering::reduce)
        return false;
    for (const fx::Node* input : node.all_input_nodes()) {
      if (group_of(input) != &contraction) continue;
      const auto& users = input->users();
      if (std::all_of(users.begin(), users.end(), [&](const fx::Node* user) {
            return user == &node || group_of(user) == &contraction;
          }))
        return false;
    }
    return !node.users().empty();
  }

  // Positions are known along the dims of a row region, one dim a row.
  static bool accepts_index(const Group& group, const fx::Node& node) {
    return group.kind == Region::Kind::rows && group.inner_dims <= 1 &&
           group.inner_at < 0 && node.val_tensor().sizes() == group.domain;
  }

  // Why not; `none` where the loops of the group can compute the node.
  Apart accepts_scalar(const Group& group, const fx::Node& node) {
    if (!options_.fuse) return Apart::switched_off;
    if (group.nodes.size() >= kMaxNodes) return Apart::full_group;
    const auto when = [](bool fits) {
      return fits ? Apart::none : Apart::other_shape;
    };
    const Dims& shape = node.val_tensor().sizes();
    switch (group.kind) {
      case Region::Kind::rows:
        return when((shape == group.domain ||
                     (group.inner_dims > 0 && shape == row_shape(group))) &&
                    inputs_in_place(group, node));
      case Region::Kind::contraction:
        if (!options_.epilogues) return Apart::switched_off;
        return when(shape == group.domain && inputs_in_place(group, node));
      case Region::Kind::columns:
        return when(shape == group.post && only_post_inputs(group, node));
      default:
        return Apart::no_epilogue;
    }
  }

  // Values of the group that `node` reads are at the same place of the loops:
  // whole, or constant along the row with the row's dims kept.
  bool inputs_in_place(const Group& group, const fx::Node& node) {
    const int rank = group.domain.size();
    for (const fx::Node* input : node.all_input_nodes()) {
      if (group_of(input) != &group) continue;
      if (input->val_tensor().dim() != rank) return false;
    }
    return true;
  }

  bool only_post_inputs(const Group& group, const fx::Node& node) {
    for (const fx::Node* input : node.all_input_nodes())
      if (group_of(input) == &group &&
          (input->val_tensor().sizes() != group.post ||
           !depends_on_reduction(*input, group)))
        return false;
    return true;
  }

  bool depends_on_reduction(const fx::Node& node, const Group& group) {
    if (lowering_of(node) == Lowering::reduce) return true;
    for (const fx::Node* input : node.all_input_nodes())
      if (group_of(input) == &group && depends_on_reduction(*input, group))
        return true;
    return false;
  }

  // The groups can be one: equal domains, at most one kind of row, and what a
  // contraction would read beside its sum can be addressed by its tiles.
  Apart fits_together(const std::vector<int32_t>& merged,
                      const fx::Node& node) {
    const Group& first = out_.groups[merged.front()];
    int inner = 0, inner_at = -1;
    size_t count = 0;
    bool indexed = false;
    const Group* contraction = nullptr;
    for (int32_t index : merged) {
      const Group& group = out_.groups[index];
      for (const fx::Node* source : group.sources)
        if (contains(merged, out_.group_of[source->id()])) return Apart::picked;
      const bool mixes_columns =
          merged.size() > 1 && group.kind == Region::Kind::columns;
      if (mixes_columns) return Apart::second_product;
      if (group.domain != first.domain) return Apart::other_shape;
      if (inner && group.inner_dims &&
          (inner != group.inner_dims || inner_at != group.inner_at))
        return Apart::other_rows;
      inner = std::max(inner, group.inner_dims);
      inner_at = std::max(inner_at, group.inner_at);
      count += group.nodes.size();
      indexed |= group.indexed;
      if (group.kind == Region::Kind::contraction) contraction = &group;
    }
    if (count >= kMaxNodes) return Apart::full_group;
    const bool plain_rows = inner <= 1 && inner_at < 0;
    if (indexed && (contraction || !plain_rows)) return Apart::positions;
    if (!contraction) return Apart::none;
    return inner == 0 && epilogue_fits(*contraction, merged, node)
               ? Apart::none
               : Apart::unfit_epilogue;
  }

  bool epilogue_fits(const Group& contraction,
                     const std::vector<int32_t>& merged, const fx::Node& node) {
    const auto fits = [&](const fx::Node& member) {
      if (is_contraction(member)) return true;
      if (!can_compute_beside(*contraction.nodes.front(),
                              member.val_tensor().dtype()))
        return false;
      if (!member.val_tensor().is_contiguous()) return false;
      for (const fx::Node* input : member.all_input_nodes())
        if (!contains(merged, out_.group_of[input->id()]) &&
            !can_read_beside(*contraction.nodes.front(), input->val_tensor()))
          return false;
      return true;
    };
    for (int32_t index : merged)
      for (const fx::Node* member : out_.groups[index].nodes)
        if (!fits(*member)) return false;
    return fits(node);
  }

  // --- Reductions. ---

  Apart why_no_row(const Group& group, const Dims& domain, int inner,
                   int inner_at) const {
    if (!options_.fuse) return Apart::switched_off;
    if (group.nodes.size() >= kMaxNodes) return Apart::full_group;
    return why_no_row_reduction(group, domain, inner, inner_at);
  }

  void place_reduction(fx::NodePtr node) {
    const std::vector<int> dims = reduced_dims(*node);
    const fx::Node* input = node->arg_node(0);
    const Dims& domain = input->val_tensor().sizes();
    const int32_t index = out_.group_of[input->id()];
    const bool last = trailing(dims, domain.size());
    const int inner = static_cast<int>(dims.size());
    const int walked = index >= 0 ? out_.groups[index].inner_at : -1;
    if (!last &&
        !(options_.inner_rows() &&
          walks_inner_rows(*node, dims, domain, walked, options_.serial)))
      return place_columns(node, domain);
    const int inner_at = last ? -1 : dims[0];
    if (index >= 0) {
      Apart why = why_no_row(out_.groups[index], domain, inner, inner_at);
      if (why == Apart::none && cycles_.closes({index}, *node))
        why = Apart::leaves_and_back;
      if (why == Apart::none) {
        join({index}, node);
        out_.groups[index].inner_dims = inner;
        out_.groups[index].inner_at = inner_at;
        return;
      }
      out_.refused[{input->id(), node->id()}] = why;
    }
    Group& group = start(node, Region::Kind::rows, inner);
    group.domain = domain;
    group.inner_at = inner_at;
  }

  void place_columns(fx::NodePtr node, const Dims& domain) {
    fx::NodePtr input = node->arg_node(0);
    const int32_t index = out_.group_of[input->id()];
    if (index >= 0) {
      const Apart why =
          options_.fuse ? why_no_column_reduction(out_, index, *node, domain)
                        : Apart::switched_off;
      if (why == Apart::none) {
        join({index}, node);
        Group& group = out_.groups[index];
        group.kind = Region::Kind::columns;
        group.post = node->val_tensor().sizes();
        return;
      }
      out_.refused[{input->id(), node->id()}] = why;
    }
    Group& group = start(node, Region::Kind::columns);
    group.domain = domain;
    group.post = node->val_tensor().sizes();
  }

  void place_gather(fx::NodePtr node) {
    if (is_element_gather(*node))
      return note_sources(start(node, Region::Kind::rows), *node);
    const bool matrix =
        ops::facts_of(*node->called_op()).gather.kind == ops::GatherKind::rows;
    const int inner = !is_row_gather(*node) ? 0
                      : matrix              ? 1
                                            : node->val_tensor().dim() - 1;
    if (inner == 0)
      start(node, Region::Kind::call);
    else
      note_sources(start(node, Region::Kind::rows, inner), *node);
  }

  static void note_sources(Group& group, const fx::Node& node) {
    for (const fx::Node* input : node.all_input_nodes())
      group.sources.push_back(input);
  }

  // --- Joining. ---

  void join(const std::vector<int32_t>& merged, fx::NodePtr node) {
    int32_t target = merged.front();
    for (int32_t index : merged)
      if (out_.groups[index].kind == Region::Kind::contraction) target = index;
    Group& into = out_.groups[target];
    for (int32_t index : merged) {
      if (index == target) continue;
      Group& from = out_.groups[index];
      for (fx::NodePtr member : from.nodes) {
        out_.group_of[member->id()] = target;
        into.nodes.push_back(member);
      }
      into.inner_dims = std::max(into.inner_dims, from.inner_dims);
      into.inner_at = std::max(into.inner_at, from.inner_at);
      into.indexed |= from.indexed;
      into.sources.insert(into.sources.end(), from.sources.begin(),
                          from.sources.end());
      from.nodes.clear();
      from.dead = true;
    }
    out_.group_of[node->id()] = target;
    into.nodes.push_back(node);
  }

  const ModelGraph& model_;
  GroupingOptions options_;
  Grouping out_;
  std::vector<int32_t> position_;
  CycleFinder cycles_;
};

}  // namespace

Grouping group_nodes(const ModelGraph& model, const GroupingOptions& options) {
  return Grouper(model, options).run();
}

}  // namespace fxjit::passes
