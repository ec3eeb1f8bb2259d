#include "src/passes/memory/followed_writes.h"

#include <set>

#include "fxjit/functions.h"
#include "src/ops/table/randomness.h"
#include "src/ops/table/written_memory.h"
#include "src/passes/lowering/lower.h"
#include "src/passes/memory/set_items.h"
#include "src/passes/memory/written_value.h"
#include "src/tensor/memory_order.h"

namespace fxjit::passes {

void refuse_write(const fx::Node& node) {
  refuse(node, "changes in place what others may see");
}

void refuse(const fx::Node& node, const char* why) {
  throw NotImplementedError("[" + std::string(node.target_name()) + " %" +
                                std::string(node.name()) +
                                "] cannot be compiled: the target " + why,
                            node.error_context());
}

namespace {

bool has_tensors(const Value& index) {
  bool found = false;
  visit_leaves(index, [&](const Value& leaf) {
    found = found || leaf.is_proxy() || leaf.is_tensor();
  });
  return found;
}

// The node at which the chain of first arguments begins, a placeholder for
// example, of whose memory the node is a view or a new value.
const fx::Node* root_of(const fx::Node* node) {
  while (node->all_input_nodes().begin() != node->all_input_nodes().end())
    node = *node->all_input_nodes().begin();
  return node;
}

// Whether a later node reads the caller's tensor by places of its storage. The
// offset of as_strided counts from the start of the storage, so a value that
// takes the place of the tensor has no such view.
bool is_seen_by_place(const fx::Node& write) {
  const fx::Node* const root = root_of(&write);
  std::set<const fx::Node*> places;  // And what reads them.
  bool behind = false;
  for (const fx::NodePtr node : write.graph().nodes()) {
    behind = behind || node == &write;
    bool sees = node->calls(ops::get_op("as_strided")) && root_of(node) == root;
    for (const fx::NodePtr input : node->all_input_nodes())
      sees = sees || places.contains(input);
    if (behind && sees) return true;
    if (sees) places.insert(node);
  }
  return false;
}

// A dense tensor with its dims as they lie in memory: contiguous.
Value in_memory_order(const Value& dense) {
  const Tensor meta = meta_of(dense).as_tensor();
  return meta.is_contiguous()
             ? dense
             : method(dense, "permute", {Value(memory_order(meta))});
}

}  // namespace

void FollowedWrites::add_input(const Value& placeholder) {
  const auto number = static_cast<int32_t>(inputs_.size());
  inputs_.emplace(builder_.memory_of(placeholder).id, number);
}

std::vector<int32_t> FollowedWrites::written_inputs() const {
  std::vector<int32_t> inputs;
  for (const auto& [input, after] : written_) inputs.push_back(input);
  return inputs;
}

void FollowedWrites::apply(const fx::Node& node, Value& value) {
  if (!write_) return;
  const auto& [written, after, base] = *write_;
  if (base.is_none()) {
    memory_.replace(written, after);
    value = memory_.replaced(value, written, after);
    return;
  }
  memory_.rebase(node, base);
  value = memory_.rebased(value, base);
  const auto input = inputs_.find(builder_.memory_of(base).id);
  if (input != inputs_.end()) written_[input->second] = base;
}

// Results that are memory of written inputs say of which; the new values of
// these become results, too.
void FollowedWrites::add_to(const Value& result, PlacedResult& placed) {
  if (written_.empty()) return;
  std::map<int32_t, int32_t> numbers;  // By memory.
  ValueList values;
  for (const auto& [input, after] : written_) {
    numbers[builder_.memory_of(after).id] = static_cast<int32_t>(values.size());
    values.push_back(after);
  }
  ValueList given;
  visit_leaves(result, [&](const Value& leaf) {
    if (leaf.is_proxy() || leaf.is_tensor()) given.push_back(leaf);
  });
  size_t next = 0;
  placed.value = map_leaves(placed.value, [&](const Value& leaf) -> Value {
    if (!leaf.is_proxy() && !leaf.is_tensor()) return leaf;
    const Value& shown = given[next];
    ModelGraph::Result& known = placed.memory[next++];
    const auto found = numbers.find(builder_.memory_of(shown).id);
    if (found == numbers.end()) return leaf;
    known.written = found->second;
    known.view = meta_of(shown).as_tensor();
    return values[static_cast<size_t>(known.written)];
  });
  placed.memory.resize(placed.memory.size() + values.size());
  placed.value = Value::tuple({placed.value, Value::tuple(std::move(values))});
}

// The call as one that does not write. The new value is a node of its own,
// which later readers of the argument are given; where other views of the
// memory are read too, these become views of its new value.
Value FollowedWrites::write(const fx::Node& node, const ops::Op& op,
                            ValueList args) {
  if (const auto known = write_known(node, op, args)) return *known;
  // The interpreter tells.
  if (ops::is_refused_write({op, meta_of(args)}, read_beside(args)))
    refuse_write(node);
  if (!may_write(node, args[0])) refuse_write(node);
  const Value written = args[0];
  const DType dtype = meta_of(written).as_tensor().dtype();
  ops::infer({op, meta_of(args)});  // Whether the result fits its place.
  Value result = written_value(builder_, node, op, args);
  if (meta_of(result).as_tensor().dtype() != dtype)
    result = call(builder_, "to", {result, dtype});
  return note_write(node, written, result);
}

// What the call reads of the memory that it writes, beside its first argument.
std::vector<Tensor> FollowedWrites::read_beside(const ValueList& args) const {
  std::vector<Tensor> read;
  if (!args[0].is_proxy()) return read;
  const ValueMemory written = builder_.memory_of(args[0]);
  for (size_t i = 1; i < args.size(); ++i)
    visit_leaves(args[i], [&](const Value& leaf) {
      if (leaf.is_proxy() && builder_.memory_of(leaf) == written)
        read.push_back(meta_of(leaf).as_tensor());
    });
  return read;
}

// The result of the call if all its numbers are known now: the op is run on a
// copy of the memory that it writes.
std::optional<Value> FollowedWrites::write_known(const fx::Node& node,
                                                 const ops::Op& op,
                                                 const ValueList& args) {
  if (ops::draws_numbers({op, args})) return std::nullopt;
  ValueList known;
  bool all_known = true;
  for (const Value& arg : args) {
    known.push_back(builder_.with_constants(arg));
    visit_leaves(known.back(), [&](const Value& leaf) {
      all_known = all_known && !leaf.is_proxy();
    });
  }
  if (!all_known) return std::nullopt;
  const std::optional<Tensor> copy = memory_.copy_known(node, args[0]);
  if (!copy) return std::nullopt;
  known[0] = *copy;
  wrote_known_ = true;
  return ops::run_eager({op, known});
}

// Whether all readers of the written memory can be found and given the new
// value.
bool FollowedWrites::may_write(const fx::Node& node, const Value& written) {
  if (memory_.may_replace(node, written)) return true;
  const ValueMemory memory = builder_.memory_of(written);
  if (builder_.is_outside(memory.id)) {
    const auto input = inputs_.find(memory.id);
    if (input == inputs_.end() || is_seen_by_place(node)) return false;
    // Not so for views of an input that was filled with constants.
    const auto after = written_.find(input->second);
    const bool of_whole =
        after == written_.end()
            ? memory.base->is(fx::Opcode::placeholder)
            : memory.base == GraphBuilder::node_of(after->second);
    if (!of_whole) return false;
  }
  return memory_.may_rebase(node, written);
}

Value FollowedWrites::set_item(const fx::Node& node, const ValueList& args) {
  if (args.size() != 3 || !args[0].is_proxy() || !may_write(node, args[0]))
    refuse_write(node);
  const bool alone = memory_.may_replace(node, args[0]);
  const auto item = item_write(args[0], args[1], args[2]);
  const Value& part = item ? item->part : args[0];
  const bool by_views = item && !has_tensors(args[1]);
  if (ops::repeats_elements(meta_of(part).as_tensor())) refuse_write(node);
  for (const Tensor& value : read_beside(args))
    if (ops::is_refused_assignment(meta_of(part).as_tensor(), value, by_views))
      refuse_write(node);
  const bool whole =
      item && MemoryClasses::is_same(builder_, item->part, args[0]);
  if (item &&
      (alone ? whole && is_own(item->after) : may_write(node, item->part)))
    note_write(node, item->part, item->after);
  else
    note_write(node, args[0], with_items(args[0], args[1], args[2]));
  return None;
}

// The value of `written` behind the write. Views of it count on its strides.
Value FollowedWrites::note_write(const fx::Node& node, const Value& written,
                                 const Value& result) {
  if (MemoryClasses::is_same(builder_, written, result)) return result;
  const Tensor before = meta_of(written).as_tensor();
  const Tensor after = meta_of(result).as_tensor();
  if (after.sizes() != before.sizes()) refuse_write(node);
  const bool fits = after.strides() == before.strides() || is_dense(before);
  if (!fits && !memory_.may_rebase(node, written)) refuse_write(node);
  if (!fits || !memory_.may_replace(node, written))
    return note_write_through(node, written, result);
  const Value laid_out =
      after.strides() == before.strides()
          ? result
          : builder_.call(layout_op(), {result, before.strides()});
  write_ = {written, builder_.as_written(laid_out, written), {}};
  return write_->after;
}

// Handles a write to memory of which other views are read as well: all of the
// memory gets a new value, and those views become views of that value.
Value FollowedWrites::note_write_through(const fx::Node& node,
                                         const Value& written,
                                         const Value& result) {
  const Value base = in_memory_order(builder_.base_of(written));
  const Tensor whole = meta_of(base).as_tensor();
  const Tensor part = meta_of(written).as_tensor();
  Value after = result;
  if (!MemoryClasses::is_same(builder_, base, written))
    after = builder_.call(put_view_op(),
                          {base, result, part.strides(), part.offset()});
  else if (meta_of(result).as_tensor().strides() != whole.strides())
    after = builder_.call(layout_op(), {result, whole.strides()});
  // Views of inputs and constants have no known place in their memory.
  if (!is_own(after))
    after = builder_.call(put_view_op(), {base, after, whole.strides(), 0});
  if (!is_own(after)) refuse_write(node);
  after = builder_.as_written(after, written);
  const Value seen = memory_.rebased(written, after);
  write_ = {written, seen, after};
  return seen;
}

}  // namespace fxjit::passes
