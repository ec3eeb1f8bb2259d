// Node: one call, input or output of a Graph, with torch.fx's meaning of the
// six opcodes:
//
//   placeholder    an argument; target is its name ("x", "*args"), args holds
//                  its default value if it has one
//   get_attr       the parameter, buffer or attribute that target names
//   call_function  target(*args, **kwargs), target is a callable
//   call_method    args[0].target(*args[1:], **kwargs)
//   call_module    the submodule that target names, called with args, kwargs
//   output         args[0] is the graph's result
//
// Nodes are made and owned by a Graph; their addresses are stable until the
// graph is destroyed, also after being erased. Arguments are values that may
// hold nodes at any depth; they are immutable, and replacing them keeps the use
// lists right. An erased node can be looked at; using it in an edit, or as an
// argument, is a RuntimeError. A graph may be used by one thread at a time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fxjit/error.h"
#include "fxjit/fx/meta.h"
#include "fxjit/fx/target.h"
#include "fxjit/fx/use.h"
#include "fxjit/op.h"
#include "fxjit/value.h"

namespace fxjit::nn {
class Module;
}

namespace fxjit::fx {

class Graph;

// torch's ArgsKwargsPair.
struct ArgsKwargs {
  ValueList args;
  Kwargs kwargs;
};

// One node of a graph: torch.fx.Node. The graph owns it; pointers stay valid
// until the graph is destroyed, also after the node was erased. Not
// thread-safe.
class Node {
 public:
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  Opcode op() const { return op_; }
  bool is(Opcode op) const { return op_ == op; }
  // Unique within the graph.
  std::string_view name() const { return name_; }
  // Takes `candidate` made unique, as when the node was created.
  void rename(std::string_view candidate);
  // Takes `name` as it is, although it may be taken or illegal; Graph::lint
  // finds duplicates.
  void force_name(std::string_view name);
  // Dense number, in order of creation, never reused: index of side tables of
  // size Graph::id_bound().
  uint32_t id() const { return id_; }
  Graph& graph() const { return *graph_; }
  NodePtr next() const { return next_; }
  NodePtr prev() const { return prev_; }
  bool erased() const { return erased_; }

  const Target& target() const { return target_; }
  std::string_view target_name() const { return target_.text(); }
  // A function may be given by printed name, as to Graph::call_function:
  // KeyError for one that is not known, ValueError for a function where text
  // is expected.
  void set_target(const Target& target);
  // True for a call_function of `op` under any spelling. Null otherwise.
  bool calls(const ops::Op& op) const { return called_op() == &op; }
  const ops::Op* called_op() const {
    return op_ == Opcode::call_function ? target_.op() : nullptr;
  }

  const ValueList& args() const { return args_; }
  const Kwargs& kwargs() const { return kwargs_; }
  // IndexError / KeyError naming the node.
  const Value& arg(size_t i) const;
  const Value& kwarg(std::string_view name) const;
  const Value* find_kwarg(std::string_view name) const;
  // args[i] when it is a node, else null.
  NodePtr arg_node(size_t i) const;

  void set_args(ValueList args);
  void set_kwargs(Kwargs kwargs);
  void set_args_kwargs(ValueList args, Kwargs kwargs);
  // torch's update_arg, insert_arg, update_kwarg.
  void set_arg(size_t i, Value value);
  void insert_arg(size_t i, Value value);
  void set_kwarg(std::string_view name, Value value);

  UserRange users() const { return {first_use_, num_users_}; }
  size_t num_users() const { return num_users_; }
  bool has_user(const Node* user) const;
  InputRange all_input_nodes() const { return {uses_, num_inputs_}; }

  // Moves `node` (of the same graph) behind or before this one.
  // AssertionError for a node of another graph, TypeError for null; itself is
  // left in place.
  void append(NodePtr node);
  void prepend(NodePtr node);
  // True when this node stands before `other` in the list. O(distance).
  bool precedes(const Node* other) const;

  // Makes every user of this node use `replacement` instead, except those for
  // which `change_user` returns false. Returns the users changed. A null
  // `replacement` puts None there, as torch's None does. The node
  // `replacement` itself is changed too when it uses this node (as in torch),
  // unless filtered.
  std::vector<NodePtr> replace_all_uses_with(
      NodePtr replacement,
      const std::function<bool(NodePtr user)>& change_user = nullptr,
      bool propagate_meta = false);
  // Nothing for a null `old_input`; a null `new_input` puts None.
  void replace_input_with(NodePtr old_input, NodePtr new_input);

  // Type annotation: text of the type expression, or none.
  const Value& type() const;
  void set_type(Value type);

  // The inferred result: a meta tensor, or a container of them; none when
  // unknown. The counterpart of torch's meta["val"].
  const Value& val() const { return val_; }
  void set_val(Value val) { val_ = std::move(val); }
  // `val()` as a tensor; InternalError naming the node when it is not one.
  const Tensor& val_tensor() const;

  // The user's own entries. The const overload does not allocate.
  Meta& meta();
  const Meta& meta() const;
  // Line of the user's C++ code that made the call.
  const SourceLocation& source() const { return source_; }
  void set_source(SourceLocation source) { source_ = source; }
  // Modules in which the call was traced; null when not traced.
  const std::shared_ptr<const ModuleStack>& module_stack() const {
    return module_stack_;
  }
  void set_module_stack(std::shared_ptr<const ModuleStack> stack) {
    module_stack_ = std::move(stack);
  }
  std::string_view module_path() const;  // Innermost; "" when not traced.
  // meta()["stack_trace"], which tracers write on request
  // (TracerBase::record_stack_traces): `File "x.cpp", line 3, in f` lines.
  std::string stack_trace() const;
  // Copies type, val, meta, source and module stack.
  void copy_meta_from(const Node& other);
  // Op, node name, module path and source, for errors about this node.
  ErrorContext error_context() const;

  // False when removing an unused call changes nothing: placeholders, outputs,
  // random, mutating and effectful ops are impure, modules say so themselves.
  bool is_impure(bool impure_random = true) const;

  // The arguments matched to the parameters of the function or of the module
  // below `root`, with defaults filled in: those not given by position, or all,
  // as keywords in the order of declaration. None for other nodes, Python's
  // operators, methods, functions of the user and variadic functions. Where
  // torch asks for types to choose among overloads, the one on tensors is
  // taken. RuntimeError when `root` lacks the module, TypeError when arguments
  // do not fit.
  std::optional<ArgsKwargs> normalized_arguments(
      const nn::Module& root, bool normalize_to_only_use_kwargs = false) const;

  // As torch.fx prints it:
  // "%add : [num_users=1] = call_function[target=operator.add](args = ...)".
  std::string format_node() const;
  // As above, to the end of `out`.
  void format_to(std::string& out) const;

 private:
  friend class Graph;
  struct Extra {
    Value type;
    Meta meta;
  };
  static constexpr uint32_t kInlineUses = 2;

  Node(Graph* graph, Opcode op, uint32_t id)
      : graph_(graph), id_(id), op_(op) {}
  ~Node();

  Extra& extra();
  // RuntimeError for an erased node.
  void refuse_erased() const;
  void refuse_erased(std::span<const Value> args, const Kwargs& kwargs) const;
  // The use lists follow args and kwargs by these.
  void attach_inputs();
  void detach_inputs();
  void reserve_uses(uint32_t count);  // Keeps the uses that are there.
  void add_use(NodePtr input);
  void exchange_input(NodePtr old_input, NodePtr new_input);
  void announce_replacement(std::string_view new_name,
                            const std::vector<NodePtr>& users);
  void remove_from_list();
  void insert_before(NodePtr at);

  Graph* graph_;
  NodePtr prev_ = this;
  NodePtr next_ = this;
  std::string_view name_;  // In the graph's string pool.
  Target target_;
  ValueList args_;
  Kwargs kwargs_;
  // Inputs: `uses_` points to `inline_uses_` or to an owned array.
  Use* uses_ = inline_uses_;
  Use inline_uses_[kInlineUses];
  Use* first_use_ = nullptr;
  Use* last_use_ = nullptr;
  uint32_t num_inputs_ = 0;
  uint32_t uses_capacity_ = kInlineUses;
  uint32_t num_users_ = 0;
  uint32_t id_;
  uint32_t mark_ = 0;  // Equal to the graph's epoch: seen in this walk.
  Opcode op_;
  bool erased_ = false;
  SourceLocation source_;
  Value val_;
  std::shared_ptr<const ModuleStack> module_stack_;
  std::unique_ptr<Extra> extra_;
};

// Applies `fn` to every node inside `value`, at any depth, rebuilding
// containers; other leaves are kept.
Value map_arg(const Value& value, const std::function<Value(NodePtr)>& fn);
// All arguments of `node`, so mapped.
ArgsKwargs map_arguments(const Node& node,
                         const std::function<Value(NodePtr)>& fn);
// Applies `fn` to every leaf.
Value map_aggregate(const Value& value,
                    const std::function<Value(const Value&)>& fn);

}  // namespace fxjit::fx
