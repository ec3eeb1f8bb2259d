#include "src/passes/memory_classes.h"

#include <algorithm>

#include "fxjit/functions_structured.h"
#include "src/passes/part_writes.h"
#include "src/tensor/memory_order.h"

namespace fxjit::passes {
namespace {

bool has_memory(const Value& leaf) {
  return leaf.is_tensor() || leaf.is_proxy();
}

// Whether a tensor may have an element twice.
bool may_repeat(const Tensor& tensor) {
  int64_t extent = 1;
  const Dims order = memory_order(tensor);
  for (int i = order.size() - 1; i >= 0; --i) {
    const int64_t d = order[i];
    if (tensor.size(d) == 1) continue;
    if (tensor.stride(d) < extent) return true;
    extent += (tensor.size(d) - 1) * tensor.stride(d);
  }
  return false;
}

// Whether two views share elements, but are not the same ones in one order.
bool overlap(const Tensor& a, const Tensor& b) {
  if (a.offset() == b.offset() && a.sizes() == b.sizes() &&
      same_places(a.sizes(), a.strides(), b.strides()))
    return false;
  std::vector<int64_t> places = places_of(a);
  std::sort(places.begin(), places.end());
  const std::vector<int64_t> others = places_of(b);
  return std::any_of(others.begin(), others.end(), [&](int64_t place) {
    return std::binary_search(places.begin(), places.end(), place);
  });
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

bool MemoryClasses::may_change(const Value& written, const ValueList& args) {
  const int32_t memory = builder_.memory_of(written).id;
  if (builder_.is_outside(memory)) return false;
  bool may = true;
  for (size_t i = 1; i < args.size(); ++i)
    visit_leaves(args[i], [&](const Value& leaf) {
      if (may && has_memory(leaf) && builder_.memory_of(leaf).id == memory &&
          !is_same(builder_, leaf, written))
        may = !overlap(placement(leaf), placement(written));
    });
  return may;
}

Tensor MemoryClasses::placement(const Value& leaf) const {
  if (leaf.is_tensor()) return leaf.as_tensor();
  const Tensor* constant = builder_.constant_of(leaf);
  return constant ? *constant : GraphBuilder::node_of(leaf)->val_tensor();
}

// The memory as a contiguous tensor; none where that is not known.
Value MemoryClasses::whole_of(const Value& written) {
  const Tensor part = placement(written);
  if (!part.is_meta()) {
    const auto count =
        static_cast<int64_t>(part.storage()->bytes() / part.item_size());
    for (const fx::Node* member : members(builder_.memory_of(written).id)) {
      const Value& value = values_[member->id()];
      if (!has_memory(value)) continue;
      const Tensor whole = placement(value);
      if (whole.storage() == part.storage() && whole.is_contiguous() &&
          whole.numel() == count && whole.dtype() == part.dtype())
        return whole;
    }
    return Tensor::view(part.storage(), {count}, part.dtype(), {1}, 0);
  }
  const Value base = builder_.base_of(written);
  const Tensor meta = placement(base);
  if (!meta.is_meta() || meta.dtype() != part.dtype() || meta.offset() != 0 ||
      !is_dense(meta))
    return None;
  return meta.is_contiguous()
             ? base
             : method(base, "permute", {Value(memory_order(meta))});
}

bool MemoryClasses::is_read_behind(const fx::Node& member,
                                   const fx::Node& writer) const {
  for (const fx::Node* user : member.users())
    if (order_[user->id()] > order_[writer.id()]) return true;
  return false;
}

// Changes the values that are read behind `writer` where they share `memory`.
template <typename Change>
void MemoryClasses::change_read(const fx::Node& writer, int32_t memory,
                                Change change) {
  for (const fx::Node* member : members(memory)) {
    if (!is_read_behind(*member, writer)) continue;
    Value& value = values_[member->id()];
    value = map_leaves(value, [&](const Value& leaf) {
      const bool shares =
          has_memory(leaf) && builder_.memory_of(leaf).id == memory;
      return shares ? change(leaf) : leaf;
    });
  }
}

// Whether places in `whole_of(written)` are known of all that is read behind.
bool MemoryClasses::are_placed(const fx::Node& writer, const Value& written) {
  const ValueMemory memory = builder_.memory_of(written);
  const Tensor part = placement(written);
  bool placed = true;
  change_read(writer, memory.id, [&](const Value& leaf) {
    const Tensor place = placement(leaf);
    placed = placed && place.dtype() == part.dtype() &&
             place.storage() == part.storage() &&
             (!part.is_meta() || builder_.memory_of(leaf).base == memory.base);
    return leaf;
  });
  return placed;
}

std::optional<Value> MemoryClasses::write_part(const fx::Node& writer,
                                               const Value& written,
                                               const Value& result) {
  const Tensor part = placement(written);
  const Value whole = whole_of(written);
  if (whole.is_none() || may_repeat(part) || !are_placed(writer, written) ||
      meta_of(result).as_tensor().dtype() != part.dtype())
    return std::nullopt;
  if (part.numel() == 0) return written;
  const Value after =
      builder_.as_written(with_part(whole, part, result), written);
  const auto view = [&](const Value& leaf) {
    const Tensor place = placement(leaf);
    return builder_.call(
        ops::get_op("as_strided"),
        {after, Value(place.sizes()), Value(place.strides()), place.offset()});
  };
  change_read(writer, builder_.memory_of(written).id, view);
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
