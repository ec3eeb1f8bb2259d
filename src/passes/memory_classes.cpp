#include "src/passes/memory_classes.h"

#include <algorithm>

namespace fxjit::passes {

namespace {

bool contains(const std::vector<int32_t>& list, int32_t item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

}  // namespace

MemoryClasses::MemoryClasses(const std::vector<int32_t>& order)
    : order_(order), places_(order.size()) {}

void MemoryClasses::add(const fx::Node& node, bool fresh) {
  Place& own = places_[node.id()];
  own.value = static_cast<int32_t>(node.id());
  if (node.is(fx::Opcode::placeholder) || node.is(fx::Opcode::get_attr))
    return;
  if (fresh) {
    own.memory = static_cast<int32_t>(members_.size());
    members_.push_back({&node});
    shared_.push_back(false);
    return;
  }
  std::vector<int32_t> memories;
  for (const fx::Node* input : node.all_input_nodes())
    if (const int32_t memory = place(*input).memory; !contains(memories, memory))
      memories.push_back(memory);
  if (memories.size() == 1) {
    own.memory = memories[0];
    if (own.memory != kOutside)
      members_[static_cast<size_t>(own.memory)].push_back(&node);
    return;
  }
  // It may be any of them: writes to them are never replaced.
  for (const int32_t memory : memories)
    if (memory != kOutside) shared_[static_cast<size_t>(memory)] = true;
}

void MemoryClasses::add_write(const fx::Node& writer,
                              const fx::Node& written) {
  places_[writer.id()] = place(written);
  members_[static_cast<size_t>(place(written).memory)].push_back(&writer);
}

bool MemoryClasses::may_replace(const fx::Node& writer,
                                const fx::Node& written) const {
  const Place& at = place(written);
  if (at.memory == kOutside || shared_[static_cast<size_t>(at.memory)])
    return false;
  for (const fx::Node* member : members_[static_cast<size_t>(at.memory)]) {
    if (place(*member).value == at.value) continue;
    for (const fx::Node* user : member->users())
      if (order_[user->id()] >= order_[writer.id()]) return false;
  }
  return true;
}

std::vector<const fx::Node*> MemoryClasses::same_value(
    const fx::Node& written) const {
  std::vector<const fx::Node*> same;
  const Place& at = place(written);
  for (const fx::Node* member : members_[static_cast<size_t>(at.memory)])
    if (place(*member).value == at.value) same.push_back(member);
  return same;
}

}  // namespace fxjit::passes
