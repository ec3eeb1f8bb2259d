#include "fxjit/fx/graph.h"

#include <new>

#include "fxjit/fx/graph_module.h"
#include "fxjit/fx/tracer_base.h"
#include "fxjit/log.h"
#include "src/fx/graph/graph_names.h"
#include "src/fx/graph/node_hooks.h"

namespace fxjit::fx {
namespace {

constexpr size_t kNodesPerSlab = 256;

// The name that a node takes from what it calls, not yet unique.
std::string name_from_target(const Target& target) {
  constexpr std::string_view kOpNamespace = "torch.ops.";
  std::string_view text = target.text();
  if (!target.callable()) {
    if (text.starts_with("__") && text.ends_with("__"))
      text = text.size() > 4 ? text.substr(2, text.size() - 4) : "";
    return snake_case(text);
  }
  if (text.starts_with(kOpNamespace)) {  // "torch.ops.aten.add.Tensor"
    text.remove_prefix(kOpNamespace.size());
    return snake_case(text.substr(text.find('.') + 1));
  }
  return snake_case(text.substr(text.rfind('.') + 1));
}

}  // namespace

InsertScope::InsertScope(Graph* graph, NodePtr anchor, bool after)
    : graph_(graph),
      old_anchor_(graph->insert_anchor_),
      old_after_(graph->insert_after_) {
  graph->insert_anchor_ = anchor;
  graph->insert_after_ = after;
}

InsertScope::~InsertScope() {
  if (!graph_) return;
  while (old_anchor_->erased())
    old_anchor_ = old_after_ ? old_anchor_->prev() : old_anchor_->next();
  graph_->insert_anchor_ = old_anchor_;
  graph_->insert_after_ = old_after_;
}

Graph::Graph() : names_(std::make_unique<GraphNames>()) {
  root_ = allocate(Opcode::root);
  insert_anchor_ = root_;
}

Graph::~Graph() {
  for (uint32_t id = 0; id < next_id_; ++id) slot(id)->~Node();
  for (std::byte* slab : slabs_) ::operator delete(slab);
}

NodePtr Graph::slot(uint32_t id) const {
  return reinterpret_cast<Node*>(slabs_[id / kNodesPerSlab] +
                                 (id % kNodesPerSlab) * sizeof(Node));
}

NodePtr Graph::allocate(Opcode op) {
  if (next_id_ == UINT32_MAX)
    throw RuntimeError("[graph] nodes: expected below 2^32, got more");
  if (next_id_ % kNodesPerSlab == 0)
    slabs_.push_back(
        static_cast<std::byte*>(::operator new(kNodesPerSlab * sizeof(Node))));
  const NodePtr node = new (slot(next_id_).get()) Node(this, op, next_id_);
  ++next_id_;
  return node;
}

Target Graph::own(const Target& target) {
  if (target.callable()) return target;
  return Target(names_->targets.intern(target.text()));
}

uint32_t Graph::next_epoch() {
  if (++epoch_ == 0) {  // Wrapped: old marks would look fresh.
    for (uint32_t id = 0; id < next_id_; ++id) slot(id)->mark_ = 0;
    epoch_ = 1;
  }
  return epoch_;
}

void Graph::check_target(Opcode op, const Target& target, const Graph& graph,
                         std::string_view name) {
  if (op > Opcode::output)
    throw AssertionError("op '" + std::string(opcode_name(op)) +
                         "' is not in _legal_ops");
  const bool needs_callable = op == Opcode::call_function;
  if (target.callable() == needs_callable) return;
  throw ValueError("Node [graph = " + graph.str() + ", name = '" +
                   std::string(name) + "'] target " +
                   std::string(target.text()) + " has type " +
                   (needs_callable ? "str but a Callable is expected"
                                   : "Callable but a str is expected"));
}

NodePtr Graph::create_node(Opcode op, const Target& target, ValueList args,
                           Kwargs kwargs, std::string_view name, Value type) {
  if (op > Opcode::output || target.callable() != (op == Opcode::call_function))
    check_target(op, target, *this,
                 name.empty() ? name_from_target(target) : name);
  root_->refuse_erased(args, kwargs);
  touch();
  const NodePtr node = allocate(op);
  node->name_ = name.empty()
                    ? names_->names.create_name(name_from_target(target))
                    : names_->names.create_name(name);
  node->target_ = own(target);
  node->args_ = std::move(args);
  node->kwargs_ = std::move(kwargs);
  node->set_type(std::move(type));
  node->attach_inputs();
  node->insert_before(insert_after_ ? insert_anchor_->next_ : insert_anchor_);
  ++size_;
  if (hooks_ && !hooks_->empty()) run_create_hooks(node);
  return node;
}

// A hook that throws refuses the node.
void Graph::run_create_hooks(NodePtr node) {
  struct Refusal {
    Graph& graph;
    NodePtr node;
    ~Refusal() {
      if (node) graph.remove(node);
    }
  };
  Refusal refusal{*this, node};
  hooks_->created(*node);
  refusal.node = nullptr;
}

NodePtr Graph::placeholder(std::string_view name, Value type,
                           std::optional<Value> default_value) {
  ValueList args;
  if (default_value) args.push_back(std::move(*default_value));
  return create_node(Opcode::placeholder, name, std::move(args), {}, {},
                     std::move(type));
}

// torch counts modules, parameters and buffers, not plain attributes.
void Graph::warn_of_missing(std::string_view qualified_name) const {
  const size_t dot = qualified_name.rfind('.');
  const std::string_view path =
      qualified_name.substr(0, dot == qualified_name.npos ? 0 : dot);
  if (!owning_module_->find_submodule(path))
    log(LogLevel::warning, "Failed to fetch module " + std::string(path) + "!");
  const nn::Member member = owning_module_->find_member(qualified_name);
  if (!std::holds_alternative<std::monostate>(member) &&
      !std::holds_alternative<Value>(member))
    return;
  log(LogLevel::warning,
      "Attempted to insert a get_attr Node with no underlying reference in the "
      "owning GraphModule! Call GraphModule.add_submodule to add the necessary "
      "submodule, GraphModule.add_parameter to add the necessary Parameter, or "
      "nn.Module.register_buffer to add the necessary buffer");
}

NodePtr Graph::get_attr(std::string_view qualified_name, Value type) {
  if (owning_module_) warn_of_missing(qualified_name);
  return create_node(Opcode::get_attr, qualified_name, {}, {}, {},
                     std::move(type));
}

NodePtr Graph::call_function(const Target& function, ValueList args,
                             Kwargs kwargs, std::string_view name) {
  return create_node(Opcode::call_function, function, std::move(args),
                     std::move(kwargs), name);
}

NodePtr Graph::call_function(std::string_view printed_name, ValueList args,
                             Kwargs kwargs, std::string_view name) {
  return call_function(named_target(Opcode::call_function, printed_name),
                       std::move(args), std::move(kwargs), name);
}

// Looks up a function that is given by name; gives other targets back.
Target Graph::named_target(Opcode op, const Target& target) {
  if (op != Opcode::call_function || target.callable()) return target;
  const std::string_view name = target.text();
  if (const ops::Spelling* spelling = ops::find_function(name))
    return *spelling;
  if (const Function* function = find_defined_function(name)) return *function;
  throw KeyError(
      "[call_function] target: expected a name of the op table, got " +
      std::string(name));
}

NodePtr Graph::call_method(std::string_view method, ValueList args,
                           Kwargs kwargs, std::string_view name) {
  return create_node(Opcode::call_method, method, std::move(args),
                     std::move(kwargs), name);
}

NodePtr Graph::call_module(std::string_view qualified_name, ValueList args,
                           Kwargs kwargs, std::string_view name) {
  // AttributeError where the owner lacks the module.
  if (owning_module_) owning_module_->get_submodule(qualified_name);
  return create_node(Opcode::call_module, qualified_name, std::move(args),
                     std::move(kwargs), name);
}

NodePtr Graph::output(Value result, Value type) {
  ValueList args;
  args.push_back(std::move(result));
  return create_node(Opcode::output, "output", std::move(args), {}, {},
                     std::move(type));
}

// The method stands for the function where the tensor is known.
NodePtr Graph::call_on_tensor(std::string_view function,
                              std::string_view method, ValueList args) {
  const NodePtr tensor = args[0].is_node() ? args[0].as_node() : nullptr;
  if (!tensor)
    throw AttributeError("'NoneType' object has no attribute 'meta'");
  Value val;
  if (tensor->val().is_tensor()) {
    args[0] = tensor->val();
    val = ops::call_method(method, args);
    args[0] = tensor;
  }
  const NodePtr node = call_function(function, std::move(args));
  node->set_val(std::move(val));
  return node;
}

NodePtr Graph::create_size_node(NodePtr tensor, int64_t dim) {
  return call_on_tensor("torch.ops.aten.sym_size.int", "size", {tensor, dim});
}

NodePtr Graph::create_stride_node(NodePtr tensor, int64_t dim) {
  return call_on_tensor("torch.ops.aten.sym_stride.int", "stride",
                        {tensor, dim});
}

NodePtr Graph::create_storage_offset_node(NodePtr tensor) {
  return call_on_tensor("torch.ops.aten.sym_storage_offset.default",
                        "storage_offset", {tensor});
}

InsertScope Graph::inserting_before(NodePtr node) {
  if (!node) return InsertScope(this, root_, /*after=*/true);
  if (node->graph_ != this || node->erased_)
    throw AssertionError("Node to insert before is not in graph.");
  return InsertScope(this, node, /*after=*/false);
}

InsertScope Graph::inserting_after(NodePtr node) {
  if (!node) return InsertScope(this, root_, /*after=*/false);
  if (node->graph_ != this || node->erased_)
    throw AssertionError("Node to insert after is not in graph.");
  return InsertScope(this, node, /*after=*/true);
}

void Graph::move_anchor_off(const Node* node) {
  if (insert_anchor_ != node) return;
  insert_anchor_ = insert_after_ ? node->prev_ : node->next_;
}

void Graph::erase_node(NodePtr node) {
  if (!node) throw AttributeError("'NoneType' object has no attribute 'users'");
  if (node->num_users_ > 0) {
    std::string users;
    for (NodePtr user : node->users())
      users +=
          (users.empty() ? "" : ", ") + std::string(user->name()) + ": None";
    throw RuntimeError("Tried to erase Node " + std::string(node->name_) +
                           " but it still had " +
                           std::to_string(node->num_users_) +
                           " users in the graph: {" + users + "}!",
                       node->error_context());
  }
  if (node->graph_ != this)
    throw RuntimeError("Attempting to remove " + std::string(node->name_) +
                           " from wrong graph!",
                       node->error_context());
  if (node->erased_) {
    log(LogLevel::warning, "erase_node(" + std::string(node->name_) +
                               ") on an already erased node");
    return;
  }
  if (node == root_) return;
  if (hooks_) hooks_->erasing(*node);
  touch();
  remove(node);
}

void Graph::remove(NodePtr node) {
  move_anchor_off(node);
  node->remove_from_list();
  --size_;
  // As in torch, None stands where nodes stood.
  node->detach_inputs();
  auto none = [](NodePtr) { return Value(); };
  node->args_ = map_list(node->args_, none);
  node->kwargs_ = map_kwargs(node->kwargs_, none);
  node->erased_ = true;
  node->val_ = {};
  node->extra_.reset();
}

NodePtr Graph::output_node() const {
  const NodePtr last = root_->prev_;
  if (last->op_ != Opcode::output)
    throw AssertionError("Expected output node, got op=" +
                         std::string(opcode_name(last->op_)));
  return last;
}

std::vector<NodePtr> Graph::placeholders() const {
  return find_nodes(Opcode::placeholder);
}

std::vector<NodePtr> Graph::find_nodes(Opcode op) const {
  std::vector<NodePtr> found;
  for (NodePtr node : nodes())
    if (node->op_ == op) found.push_back(node);
  return found;
}

std::vector<NodePtr> Graph::find_nodes(Opcode op, const Target& target) const {
  const Target wanted = named_target(op, target);
  std::vector<NodePtr> found;
  for (NodePtr node : nodes())
    if (node->op_ == op && node->target_ == wanted) found.push_back(node);
  return found;
}

NodePtr Graph::find_node(std::string_view name) const {
  for (NodePtr node : nodes())
    if (node->name_ == name) return node;
  return nullptr;
}

void Graph::reserve_name(std::string_view name) { names_->names.reserve(name); }

NodeHooks& Graph::hooks() {
  if (!hooks_) hooks_ = std::make_unique<NodeHooks>();
  return *hooks_;
}

void Graph::thaw() {
  frozen_ = false;
  if (owning_module_) owning_module_->keep_running_graph();
}

TracerBase& Graph::appending_tracer() {
  if (!appending_tracer_)
    appending_tracer_ = std::make_unique<GraphAppendingTracer>(*this);
  return *appending_tracer_;
}

void Graph::set_codegen(std::shared_ptr<const CodeGen> codegen) {
  touch();
  codegen_ = std::move(codegen);
}

const CodeGen& Graph::codegen() const {
  static const CodeGen kStandard;
  return codegen_ ? *codegen_ : kStandard;
}

}  // namespace fxjit::fx
