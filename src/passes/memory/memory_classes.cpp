#include "src/passes/memory/memory_classes.h"

#include "src/tensor/memory_order.h"

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
    if (is_read_from(*member, writer)) return false;
  }
  return true;
}

bool MemoryClasses::is_read_from(const fx::Node& member,
                                 const fx::Node& writer) const {
  for (const fx::Node* user : member.users())
    if (order_[user->id()] >= order_[writer.id()]) return true;
  return false;
}

bool MemoryClasses::may_rebase(const fx::Node& writer, const Value& written) {
  if (!written.is_proxy()) return false;
  const ValueMemory memory = builder_.memory_of(written);
  if (!memory.base || !memory.base->val().is_tensor()) return false;
  const Tensor& base = memory.base->val_tensor();
  const auto is_view = [&](const Value& leaf) {
    return leaf.is_proxy() && builder_.memory_of(leaf) == memory &&
           meta_of(leaf).as_tensor().dtype() == base.dtype();
  };
  // Inputs get their new value in their own order.
  const bool whole =
      builder_.is_outside(memory.id) ? base.is_contiguous() : is_dense(base);
  if (!whole || base.offset() != 0 || !is_view(written) ||
      !elements_are_apart(meta_of(written).as_tensor()))
    return false;
  bool views = true;
  for (const fx::Node* member : members(memory.id)) {
    if (!is_read_from(*member, writer)) continue;
    visit_leaves(values_[member->id()], [&](const Value& leaf) {
      if (has_memory(leaf) && builder_.memory_of(leaf).id == memory.id)
        views = views && is_view(leaf);
    });
  }
  return views;
}

Value MemoryClasses::rebased(const Value& value, const Value& base) {
  const ValueMemory memory = builder_.memory_of(base);
  const Tensor whole = meta_of(base).as_tensor();
  return map_leaves(value, [&](const Value& leaf) {
    if (!leaf.is_proxy()) return leaf;
    const ValueMemory shown = builder_.memory_of(leaf);
    if (shown.id != memory.id || shown.base == memory.base) return leaf;
    const Tensor view = meta_of(leaf).as_tensor();
    if (view.sizes() == whole.sizes() && view.strides() == whole.strides() &&
        view.offset() == 0)
      return base;
    return builder_.call(ops::get_op("as_strided"),
                         {base, view.sizes(), view.strides(), view.offset()});
  });
}

void MemoryClasses::rebase(const fx::Node& writer, const Value& base) {
  for (const fx::Node* member : members(builder_.memory_of(base).id)) {
    if (!is_read_from(*member, writer)) continue;
    Value& value = values_[member->id()];
    value = rebased(value, base);
  }
}

// Whether all that is read of the memory of `written` are tensors of its type
// in the same storage.
bool MemoryClasses::is_known(const fx::Node& writer, const Value& written) {
  const int32_t memory = builder_.memory_of(written).id;
  if (builder_.is_outside(memory)) return false;
  const Tensor tensor = builder_.with_constants(written).as_tensor();
  bool all_known = true;
  for (const fx::Node* member : members(memory)) {
    if (!is_read_from(*member, writer)) continue;
    visit_leaves(values_[member->id()], [&](const Value& leaf) {
      if (!has_memory(leaf) || builder_.memory_of(leaf).id != memory) return;
      const Value shown = builder_.with_constants(leaf);
      all_known = all_known && shown.is_tensor() &&
                  shown.as_tensor().storage() == tensor.storage() &&
                  shown.as_tensor().dtype() == tensor.dtype();
    });
  }
  return all_known;
}

std::optional<Tensor> MemoryClasses::copy_known(const fx::Node& writer,
                                                const Value& written) {
  if (!builder_.with_constants(written).is_tensor() ||
      !is_known(writer, written))
    return std::nullopt;
  const int32_t memory = builder_.memory_of(written).id;
  const Tensor tensor = builder_.with_constants(written).as_tensor();
  const auto count =
      static_cast<int64_t>(tensor.storage()->bytes() / tensor.item_size());
  const Tensor copy =
      Tensor::view(tensor.storage(), {count}, tensor.dtype(), {1}, 0).clone();
  const auto view = [&](const Value& leaf) {
    const Tensor t = builder_.with_constants(leaf).as_tensor();
    return copy.as_strided(t.sizes(), t.strides(), t.offset());
  };
  const std::vector<const fx::Node*> shown = members(memory);
  for (const fx::Node* member : shown) {
    if (!is_read_from(*member, writer)) continue;
    Value& value = values_[member->id()];
    value = map_leaves(value, [&](const Value& leaf) -> Value {
      const bool shares =
          has_memory(leaf) && builder_.memory_of(leaf).id == memory;
      return shares ? Value(view(leaf)) : leaf;
    });
    add(*member);
  }
  return view(written);
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
