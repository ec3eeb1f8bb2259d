#include "src/compile/graph_parts.h"

#include <algorithm>

#include "fxjit/error.h"
#include "src/fx/graph/node_aliasing.h"
#include "src/nn/member_value.h"

namespace fxjit {
namespace {

// Beyond it little is won, and every part costs a program.
constexpr size_t kMostParts = 256;

}  // namespace

GraphParts::GraphParts(const fx::GraphModule& module)
    : module_(module),
      order_(passes::node_order(module.graph())),
      plan_(module.graph()),
      of_data_(module.graph().id_bound()) {}

passes::Part GraphParts::take(const fx::Node* begin, const Known& known,
                              const std::function<void()>& forget) {
  Extent extent;
  bool is_new = false;
  {
    std::lock_guard lock(mutex_);
    const auto found = extents_.find(begin);
    is_new = found == extents_.end();
    if (!is_new) extent = found->second;
  }
  try {
    if (is_new && extents_.size() >= kMostParts)
      throw NotImplementedError(
          "the graph has too many calls that cannot be compiled");
    const passes::PartRequest request{module_,     order_, begin,
                                      extent.stop, known,  changing_};
    passes::Part part = passes::normalize_part(request);
    const auto ended_by_data = [&part] {
      return part.stop && passes::is_data_dependent(*part.stop, part.why);
    };
    while (part.why && !ended_by_data() && note_writes(*part.stop)) {
      forget();
      part = passes::normalize_part(request);
    }
    if (ended_by_data()) note_data(*part.stop);
    if (is_new) {
      extent.stop = part.stop;
      extent.why = part.why;
      extent.reads = reads_between(begin, part.stop);
    }
    if (part.stop && !part.why) part.why = extent.why;
    std::lock_guard lock(mutex_);
    extents_.emplace(begin, std::move(extent));
    return part;
  } catch (...) {
    extent.reads = reads_between(begin, extent.stop);
    std::lock_guard lock(mutex_);
    extents_.emplace(begin, std::move(extent));
    throw;
  }
}

std::optional<passes::Part> GraphParts::take_named(const fx::Node* begin,
                                                   const Known& known) const {
  Extent extent;
  {
    std::lock_guard lock(mutex_);
    if (const auto found = extents_.find(begin); found != extents_.end())
      extent = found->second;
  }
  passes::Part part = passes::normalize_part(
      {module_, order_, begin, extent.stop, known, changing_});
  if (part.why || part.stop != extent.stop) return std::nullopt;
  part.why = extent.why;
  return part;
}

bool GraphParts::knows(const fx::Node* begin) const {
  std::lock_guard lock(mutex_);
  return extents_.contains(begin);
}

const GraphParts::Nodes* GraphParts::read_by(const fx::Node* begin) const {
  std::lock_guard lock(mutex_);
  const auto found = extents_.find(begin);
  return found == extents_.end() ? nullptr : &found->second.reads;
}

const fx::Node* GraphParts::stop_of(const fx::Node* begin) const {
  std::lock_guard lock(mutex_);
  const auto found = extents_.find(begin);
  return found == extents_.end() ? nullptr : found->second.stop;
}

GraphParts::Nodes GraphParts::reads_between(const fx::Node* begin,
                                            const fx::Node* end) const {
  Nodes reads;
  if (!begin) return reads;  // All inputs.
  std::vector<bool> seen(order_.size());
  const int32_t from = order_[begin->id()];
  for (const fx::Node* node = begin; node != end && !node->is(fx::Opcode::root);
       node = node->next())
    for (const fx::Node* input : node->all_input_nodes()) {
      const bool outside =
          input->is(fx::Opcode::placeholder) || order_[input->id()] < from;
      if (!outside || input->is(fx::Opcode::get_attr) || seen[input->id()])
        continue;
      seen[input->id()] = true;
      reads.push_back(input);
    }
  return reads;
}

GraphParts::Nodes GraphParts::dead_after(const fx::Node* begin,
                                         const fx::Node* stop) const {
  Nodes dead;
  if (!stop) return dead;
  const int32_t from = begin ? order_[begin->id()] : 0;
  for (const fx::Node* node = begin ? begin : first(); node != stop;
       node = node->next())
    for (const fx::Node* last : plan_.dead_after(*node))
      if (last->is(fx::Opcode::placeholder) || order_[last->id()] < from)
        dead.push_back(last);
  return dead;
}

void GraphParts::note_data(const fx::Node& source) {
  if (of_data_[source.id()]) return;
  of_data_[source.id()] = true;
  for (const fx::Node* node = source.next(); !node->is(fx::Opcode::root);
       node = node->next())
    for (const fx::Node* input : node->all_input_nodes())
      if (of_data_[input->id()]) of_data_[node->id()] = true;
}

// Adds the memory of the module's tensors that `node` may write; true when some
// was not known.
bool GraphParts::note_writes(const fx::Node& node) {
  const fx::Function* function = node.target().function();
  if (function && function->purity != ops::Purity::mutates &&
      fx::is_python_function(function->name))
    return false;
  std::unordered_set<const Storage*> found;
  add_memory(node, found);
  if (node.is(fx::Opcode::call_module)) {
    const nn::Module& called = module_.get_submodule(node.target_name());
    for (const auto& [name, parameter] : called.named_parameters())
      found.insert(parameter.tensor().storage().get());
    for (const auto& [name, buffer] : called.named_buffers())
      found.insert(buffer.tensor().storage().get());
  }
  const size_t before = changing_.size();
  changing_.insert(found.begin(), found.end());
  return changing_.size() > before;
}

// The attributes that arguments of `node` are or may be views of.
void GraphParts::add_memory(const fx::Node& node,
                            std::unordered_set<const Storage*>& found) const {
  std::vector<bool> seen(order_.size());
  std::vector<const fx::Node*> open{&node};
  while (!open.empty()) {
    const fx::Node* next = open.back();
    open.pop_back();
    for (const fx::Node* input : next->all_input_nodes()) {
      const bool attribute = input->is(fx::Opcode::get_attr);
      if (seen[input->id()] || !(attribute || fx::may_alias(*input))) continue;
      seen[input->id()] = true;
      open.push_back(input);
      if (!attribute) continue;
      const auto value =
          nn::member_value(module_.find_member(input->target_name()));
      if (!value) continue;
      visit_leaves(*value, [&](const Value& leaf) {
        if (leaf.is_tensor()) found.insert(leaf.as_tensor().storage().get());
      });
    }
  }
}

}  // namespace fxjit
