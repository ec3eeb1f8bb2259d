#include "src/passes/memory_classes.h"

namespace fxjit::passes {
namespace {

bool has_memory(const Value& leaf) {
  return leaf.is_tensor() || leaf.is_proxy();
}

}  // namespace

std::vector<const fx::Node*>& MemoryClasses::members(int32_t memory) {
  const auto at = static_cast<size_t>(memory);
  if (members_.size() <= at) members_.resize(at + 1);
  return members_[at];
}

void MemoryClasses::add(const fx::Node& node) {
  visit_leaves(values_[node.id()], [&](const Value& leaf) {
    if (!has_memory(leaf)) return;
    auto& known = members(builder_.memory_of(leaf).id);
    if (known.empty() || known.back() != &node) known.push_back(&node);
  });
}

bool MemoryClasses::is_same(GraphBuilder& builder, const Value& a,
                            const Value& b) {
  if (!has_memory(a) || a.is_proxy() != b.is_proxy()) return false;
  if (a.is_tensor()) return a.as_tensor().id() == b.as_tensor().id();
  return GraphBuilder::node_of(a) == GraphBuilder::node_of(b) &&
         builder.memory_of(a) == builder.memory_of(b);
}

bool MemoryClasses::shows_other_part(const Value& value, const Value& written) {
  const int32_t memory = builder_.memory_of(written).id;
  bool found = false;
  visit_leaves(value, [&](const Value& leaf) {
    found = found || (has_memory(leaf) && !is_same(builder_, leaf, written) &&
                      builder_.memory_of(leaf).id == memory);
  });
  return found;
}

bool MemoryClasses::may_replace(const fx::Node& writer, const Value& written) {
  const int32_t memory = builder_.memory_of(written).id;
  if (builder_.is_outside(memory)) return false;
  for (const fx::Node* member : members(memory)) {
    if (!shows_other_part(values_[member->id()], written)) continue;
    for (const fx::Node* user : member->users())
      if (order_[user->id()] >= order_[writer.id()]) return false;
  }
  return true;
}

Value MemoryClasses::replaced(const Value& value, const Value& written,
                              const Value& after) {
  return map_leaves(value, [&](const Value& leaf) {
    return is_same(builder_, leaf, written) ? after : leaf;
  });
}

void MemoryClasses::replace(const Value& written, const Value& after) {
  for (const fx::Node* member : members(builder_.memory_of(written).id)) {
    Value& value = values_[member->id()];
    value = replaced(value, written, after);
  }
}

}  // namespace fxjit::passes
