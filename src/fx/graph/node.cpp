#include "fxjit/fx/node.h"

#include <algorithm>

#include "fxjit/fx/graph.h"
#include "fxjit/fx/graph_module.h"
#include "src/fx/graph/graph_names.h"
#include "src/fx/graph/node_hooks.h"

namespace fxjit::fx {
namespace {

// `value` with `from` replaced; containers without it are shared, not rebuilt.
Value substitute(const Value& value, const Node* from, NodePtr to) {
  if (value.is_node()) return value.as_node() == from ? Value(to) : value;
  bool found = false;
  visit_leaves(value, [&](const Value& leaf) {
    found = found || (leaf.is_node() && leaf.as_node() == from);
  });
  if (!found) return value;
  return map_leaves(value, [&](const Value& leaf) {
    return leaf.is_node() && leaf.as_node() == from ? Value(to) : leaf;
  });
}

// A null replacement puts None, as torch's does.
std::string_view name_or_none(const Node* node) {
  return node ? node->name() : "None";
}

}  // namespace

Node::~Node() {
  if (uses_ != inline_uses_) delete[] uses_;
}

void Node::rename(std::string_view candidate) {
  refuse_erased();
  if (candidate == name_) return;
  graph_->touch();
  const std::string_view name = graph_->names_->names.create_name(candidate);
  if (graph_->hooks_) announce_replacement(name, users().list());
  name_ = name;
}

void Node::force_name(std::string_view name) {
  refuse_erased();
  graph_->touch();
  if (graph_->hooks_) announce_replacement(name, users().list());
  name_ = graph_->names_->targets.intern(name);
  graph_->names_->names.reserve(name);
  graph_->names_forced_ = true;
}

void Node::set_target(const Target& target) {
  refuse_erased();
  const Target named = Graph::named_target(op_, target);
  Graph::check_target(op_, named, *graph_, name_);
  graph_->touch();
  target_ = graph_->own(named);
}

const Value& Node::arg(size_t i) const {
  if (i < args_.size()) return args_[i];
  throw IndexError(
      "[" + std::string(target_name()) + " %" + std::string(name_) +
          "] argument index: expected below " + std::to_string(args_.size()) +
          ", got " + std::to_string(i),
      error_context());
}

const Value* Node::find_kwarg(std::string_view name) const {
  for (const auto& [key, value] : kwargs_)
    if (key == name) return &value;
  return nullptr;
}

const Value& Node::kwarg(std::string_view name) const {
  if (const Value* value = find_kwarg(name)) return *value;
  throw KeyError("[" + std::string(target_name()) + " %" + std::string(name_) +
                     "] keyword argument '" + std::string(name) +
                     "' is not given",
                 error_context());
}

NodePtr Node::arg_node(size_t i) const {
  return i < args_.size() && args_[i].is_node() ? args_[i].as_node() : nullptr;
}

void Node::set_args_kwargs(ValueList args, Kwargs kwargs) {
  refuse_erased(args, kwargs);
  detach_inputs();
  args_ = std::move(args);
  kwargs_ = std::move(kwargs);
  attach_inputs();
}

void Node::set_args(ValueList args) {
  refuse_erased(args, {});
  detach_inputs();
  args_ = std::move(args);
  attach_inputs();
}

void Node::set_kwargs(Kwargs kwargs) {
  refuse_erased({}, kwargs);
  detach_inputs();
  kwargs_ = std::move(kwargs);
  attach_inputs();
}

void Node::set_arg(size_t i, Value value) {
  if (i >= args_.size())
    throw IndexError("list assignment index out of range", error_context());
  refuse_erased({&value, 1}, {});
  detach_inputs();
  args_[i] = std::move(value);
  attach_inputs();
}

void Node::set_kwarg(std::string_view name, Value value) {
  refuse_erased({&value, 1}, {});
  detach_inputs();
  auto found = std::ranges::find(kwargs_, name, &Kwargs::value_type::first);
  if (found == kwargs_.end()) {
    kwargs_.emplace_back(std::string(name), std::move(value));
  } else {
    found->second = std::move(value);
  }
  attach_inputs();
}

// An erased node keeps its neighbours: iterators standing on it go on.
void Node::remove_from_list() {
  prev_->next_ = next_;
  next_->prev_ = prev_;
}

void Node::insert_before(NodePtr at) {
  prev_ = at->prev_;
  next_ = at;
  prev_->next_ = this;
  at->prev_ = this;
}

void Node::prepend(NodePtr node) {
  if (!node)
    throw TypeError("_prepend() argument must be a Node", error_context());
  if (node->graph_ != graph_)
    throw AssertionError("Attempting to move a Node into a different Graph",
                         node->error_context());
  refuse_erased();
  node->refuse_erased();
  if (node == this) return;
  graph_->touch();
  node->remove_from_list();
  node->insert_before(this);
}

void Node::append(NodePtr node) {
  // Not its next node, which is there still.
  if (erased_ && node) return prepend(node);
  next_->prepend(node);
}

bool Node::precedes(const Node* other) const {
  for (const Node* n = next_; n->op_ != Opcode::root; n = n->next_)
    if (n == other) return true;
  return false;
}

// All hooks agree before the first user is changed.
void Node::announce_replacement(std::string_view new_name,
                                const std::vector<NodePtr>& users) {
  const NodeHooks* const hooks = graph_->hooks_.get();
  if (!hooks || hooks->empty()) return;
  for (NodePtr user : users) hooks->replacing(*this, new_name, *user);
}

void Node::replace_input_with(NodePtr old_input, NodePtr new_input) {
  if (!old_input) return;
  refuse_erased();
  if (new_input) new_input->refuse_erased();
  if (graph_->hooks_)
    old_input->announce_replacement(name_or_none(new_input), {this});
  exchange_input(old_input, new_input);
}

void Node::exchange_input(NodePtr old_input, NodePtr new_input) {
  detach_inputs();
  for (Value& arg : args_) arg = substitute(arg, old_input, new_input);
  for (auto& [key, arg] : kwargs_) arg = substitute(arg, old_input, new_input);
  attach_inputs();
}

std::vector<NodePtr> Node::replace_all_uses_with(
    NodePtr replacement, const std::function<bool(NodePtr)>& change_user,
    bool propagate_meta) {
  if (replacement) replacement->refuse_erased();
  if (propagate_meta && replacement) {
    if (!std::as_const(*replacement).meta().empty())
      throw AssertionError(
          "Called node.replace_all_uses_with(replace_with, "
          "propagate_meta=True), but replace_with already has .meta keys",
          replacement->error_context());
  }
  std::vector<NodePtr> changed = users().list();
  if (change_user)
    std::erase_if(changed, [&](NodePtr user) { return !change_user(user); });
  announce_replacement(name_or_none(replacement), changed);
  if (propagate_meta && replacement) replacement->copy_meta_from(*this);
  for (NodePtr user : changed) user->exchange_input(this, replacement);
  return changed;
}

Node::Extra& Node::extra() {
  if (!extra_) extra_ = std::make_unique<Extra>();
  return *extra_;
}

const Value& Node::type() const {
  static const Value kNone;
  return extra_ ? extra_->type : kNone;
}

void Node::set_type(Value type) {
  if (!extra_ && type.is_none()) return;
  extra().type = std::move(type);
}

Meta& Node::meta() { return extra().meta; }

const Meta& Node::meta() const {
  static const Meta kEmpty;
  return extra_ ? extra_->meta : kEmpty;
}

const Tensor& Node::val_tensor() const {
  if (val_.is_tensor()) return val_.as_tensor();
  throw InternalError("[" + std::string(target_name()) + " %" +
                          std::string(name_) +
                          "] inferred value: expected a tensor, got " +
                          std::string(val_.kind_name()),
                      error_context());
}

std::string_view Node::module_path() const {
  return module_stack_ && !module_stack_->empty() ? module_stack_->back().path
                                                  : std::string_view();
}

std::string Node::stack_trace() const {
  const Value* const recorded = meta().find("stack_trace");
  return recorded ? std::string(recorded->as_string()) : std::string();
}

void Node::copy_meta_from(const Node& other) {
  val_ = other.val_;
  source_ = other.source_;
  module_stack_ = other.module_stack_;
  if (other.extra_) extra() = *other.extra_;
}

ErrorContext Node::error_context() const {
  return {std::string(target_name()), std::string(name_),
          std::string(module_path()), source_};
}

Value map_arg(const Value& value, const std::function<Value(NodePtr)>& fn) {
  if (!fn)
    throw AssertionError("torch.fx.map_arg(a, fn): fn must be a callable");
  return map_leaves(value, [&](const Value& leaf) {
    return leaf.is_node() ? fn(leaf.as_node()) : leaf;
  });
}

ArgsKwargs map_arguments(const Node& node,
                         const std::function<Value(NodePtr)>& fn) {
  ArgsKwargs mapped;
  for (const Value& arg : node.args()) mapped.args.push_back(map_arg(arg, fn));
  for (const auto& [key, arg] : node.kwargs())
    mapped.kwargs.emplace_back(key, map_arg(arg, fn));
  return mapped;
}

Value map_aggregate(const Value& value,
                    const std::function<Value(const Value&)>& fn) {
  if (!fn) throw TypeError("'NoneType' object is not callable");
  return map_leaves(value, fn);
}

}  // namespace fxjit::fx
