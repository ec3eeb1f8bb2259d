#include "src/program/planning/live_bytes.h"

#include <algorithm>
#include <numeric>

namespace fxjit::program {
namespace {

// Bytes of the tensors of a region's results.
int64_t result_bytes(const fx::Node& region) {
  int64_t bytes = 0;
  visit_leaves(region.val(), [&](const Value& leaf) {
    if (leaf.is_tensor()) bytes += bytes_of(leaf.as_tensor());
  });
  return bytes;
}

}  // namespace

LiveBytes::LiveBytes(const passes::ModelGraph& model)
    : positions_(model.graph->id_bound()) {
  std::vector<const fx::Node*> nodes;
  for (const fx::Node* node : model.graph->nodes()) {
    positions_[node->id()] = nodes.size();
    nodes.push_back(node);
  }
  // Items and views keep the memory of the region that they are of.
  last_.resize(nodes.size());
  std::vector<int64_t> changes(nodes.size() + 1);
  for (size_t i = nodes.size(); i-- > 0;) {
    last_[i] = i;
    for (const fx::Node* user : nodes[i]->users()) {
      const size_t at = positions_[user->id()];
      const bool keeps = user->is(fx::Opcode::call_function);
      last_[i] = std::max(last_[i], keeps ? last_[at] : at);
    }
    if (!nodes[i]->is(fx::Opcode::call_module)) continue;
    changes[i] += result_bytes(*nodes[i]);
    changes[last_[i] + 1] -= result_bytes(*nodes[i]);
  }
  bytes_.resize(nodes.size());
  std::partial_sum(changes.begin(), changes.end() - 1, bytes_.begin());
  if (!bytes_.empty()) peak_ = *std::ranges::max_element(bytes_);
}

Life LiveBytes::life(const fx::Node& region) const {
  const size_t first = positions_[region.id()];
  return {first, last_[first] + 1};
}

int64_t bytes_of(const Tensor& val) { return val.numel() * val.item_size(); }

}  // namespace fxjit::program
