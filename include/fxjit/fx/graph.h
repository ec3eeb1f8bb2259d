// Graph: a list of nodes in execution order, with torch.fx's API. It owns its
// nodes; all other code holds plain pointers to them. Iteration may erase and
// insert nodes as it goes. Every operation is linear in what it touches, and
// none recurses along the graph: graphs of millions of nodes are fine.
//
// A graph may be used by one thread at a time; different graphs are
// independent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fxjit/fx/codegen.h"
#include "fxjit/fx/node.h"

namespace fxjit::nn {
class Module;
}

namespace fxjit::fx {

class GraphModule;
class NodeHooks;
class TracerBase;
struct GraphNames;

// The nodes in order. Iterators step over nodes erased since they got there.
class NodeRange {
 public:
  class iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = NodePtr;
    using difference_type = std::ptrdiff_t;
    using pointer = const NodePtr*;
    using reference = NodePtr;
    iterator() = default;
    iterator(NodePtr at, bool reverse) : at_(at), reverse_(reverse) {}
    NodePtr operator*() const { return at_; }
    iterator& operator++() {
      do {
        at_ = reverse_ ? at_->prev() : at_->next();
      } while (at_->erased());
      return *this;
    }
    iterator operator++(int) {
      iterator old = *this;
      ++*this;
      return old;
    }
    friend bool operator==(iterator a, iterator b) { return a.at_ == b.at_; }

   private:
    NodePtr at_ = nullptr;
    bool reverse_ = false;
  };

  NodeRange(NodePtr root, size_t count, bool reverse)
      : root_(root), count_(count), reverse_(reverse) {}
  iterator begin() const { return ++iterator(root_, reverse_); }
  iterator end() const { return {root_, reverse_}; }
  size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  NodePtr front() const { return *begin(); }
  NodePtr back() const { return reverse_ ? root_->next() : root_->prev(); }
  NodeRange reversed() const { return {root_, count_, !reverse_}; }
  std::vector<NodePtr> list() const { return {begin(), end()}; }

 private:
  NodePtr root_;
  size_t count_;
  bool reverse_;
};

// Restores the insert point when it goes out of scope, unless `keep` is called.
class [[nodiscard]] InsertScope {
 public:
  InsertScope(const InsertScope&) = delete;
  InsertScope& operator=(const InsertScope&) = delete;
  ~InsertScope();
  void keep() { graph_ = nullptr; }

 private:
  friend class Graph;
  InsertScope(Graph* graph, NodePtr anchor, bool after);
  Graph* graph_;
  NodePtr old_anchor_;
  bool old_after_;
};

// Takes a change of generated code back when it goes out of scope, unless
// `keep` is called.
class [[nodiscard]] BodyTransformScope {
 public:
  BodyTransformScope(const BodyTransformScope&) = delete;
  BodyTransformScope& operator=(const BodyTransformScope&) = delete;
  ~BodyTransformScope();
  void keep() { graph_ = nullptr; }

 private:
  friend class Graph;
  BodyTransformScope(Graph* graph, BodyTransform old)
      : graph_(graph), old_(std::move(old)) {}
  Graph* graph_;
  BodyTransform old_;
};

// Nodes of one graph mapped to values of another (nodes, mostly).
using ValueMap = std::unordered_map<const Node*, Value>;

class Graph {
 public:
  Graph();
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // torch's deepcopy: the same names, codegen included; nothing behind the
  // output is copied. The owning module is not set.
  std::unique_ptr<Graph> copy() const;

  // The module that the graph belongs to; null when free-standing.
  GraphModule* owning_module() const { return owning_module_; }
  void set_owning_module(GraphModule* module) { owning_module_ = module; }

  NodeRange nodes() const { return {root_, size_, false}; }
  size_t size() const { return size_; }
  // All ids are below this number.
  uint32_t id_bound() const { return next_id_; }
  // RuntimeError when there is none.
  NodePtr output_node() const;
  std::vector<NodePtr> placeholders() const;
  // Nodes with this op (and target), in graph order. A function may be given
  // by printed name, as to `call_function`.
  std::vector<NodePtr> find_nodes(Opcode op) const;
  std::vector<NodePtr> find_nodes(Opcode op, const Target& target) const;
  // By name; null when absent. Linear.
  NodePtr find_node(std::string_view name) const;

  // --- Creation, at the insert point. ---
  // `name` is a wish, made unique; by default it follows from the target.
  // ValueError when target and op do not fit. Nodes inside the arguments should
  // belong to this graph (`lint` tells).
  NodePtr create_node(Opcode op, const Target& target, ValueList args = {},
                      Kwargs kwargs = {}, std::string_view name = {},
                      Value type = {});
  NodePtr placeholder(std::string_view name, Value type = {},
                      std::optional<Value> default_value = std::nullopt);
  // With a warning when the owning module lacks what is named.
  NodePtr get_attr(std::string_view qualified_name, Value type = {});
  NodePtr call_function(const Target& function, ValueList args = {},
                        Kwargs kwargs = {}, std::string_view name = {});
  // By printed name ("torch.relu"); KeyError when the op table lacks it.
  NodePtr call_function(std::string_view printed_name, ValueList args = {},
                        Kwargs kwargs = {}, std::string_view name = {});
  NodePtr call_function(const std::string& printed_name, ValueList args = {},
                        Kwargs kwargs = {}, std::string_view name = {}) {
    return call_function(std::string_view(printed_name), std::move(args),
                         std::move(kwargs), name);
  }
  NodePtr call_function(const char* printed_name, ValueList args = {},
                        Kwargs kwargs = {}, std::string_view name = {}) {
    return call_function(std::string_view(printed_name), std::move(args),
                         std::move(kwargs), name);
  }
  // Calls of aten.sym_size, sym_stride and sym_storage_offset on what `tensor`
  // gives. Their `val` is known where that of `tensor` is. AttributeError for
  // null.
  NodePtr create_size_node(NodePtr tensor, int64_t dim);
  NodePtr create_stride_node(NodePtr tensor, int64_t dim);
  NodePtr create_storage_offset_node(NodePtr tensor);
  NodePtr call_method(std::string_view method, ValueList args,
                      Kwargs kwargs = {}, std::string_view name = {});
  // AttributeError when there is an owning module and it lacks this one.
  NodePtr call_module(std::string_view qualified_name, ValueList args = {},
                      Kwargs kwargs = {}, std::string_view name = {});
  NodePtr output(Value result, Value type = {});

  // Nodes created next go before / after `node`, each one again at that place
  // (so several created after a node end up in reverse order, as in torch).
  // Null: the start (before) or the end (after) of the graph.
  InsertScope inserting_before(NodePtr node = nullptr);
  InsertScope inserting_after(NodePtr node = nullptr);

  // RuntimeError with torch's text while the node has users.
  void erase_node(NodePtr node);

  // Copies a node of another graph to the insert point; `map` gives each
  // input's counterpart here. Meta is copied, the name kept where free.
  template <typename Fn>
  NodePtr node_copy(const Node& node, Fn&& map) {
    ValueList args = map_list(node.args(), map);  // Before the kwargs.
    return copy_node_with_args(node, std::move(args),
                               map_kwargs(node.kwargs(), map));
  }
  NodePtr node_copy(const Node& node);
  // Copies all nodes but the output; `map` may be pre-filled and receives every
  // node. Returns the mapped result of `source`'s output, none without one.
  Value graph_copy(const Graph& source, ValueMap& map);

  // Removes calls whose results are unused and that have no effect. Returns
  // whether anything was removed. `is_impure` replaces Node::is_impure.
  bool eliminate_dead_code(
      const std::function<bool(const Node&)>& is_impure = nullptr);

  // Checks order, ownership, names, use lists and that targets exist (when the
  // graph has an owning module, or in `root`). Throws with torch's texts.
  void lint(const nn::Module* root = nullptr) const;

  // --- Printing. ---
  std::string str() const;      // "graph():\n    %x : [num_users=1] = ..."
  std::string tabular() const;  // torch's print_tabular.
  PythonCode python_code(std::string_view root_module = "self",
                         const CodeOptions& options = {}) const;
  // Runs with null: the standard `forward`.
  void set_codegen(std::shared_ptr<const CodeGen> codegen);
  const CodeGen& codegen() const;
  // Changes the body of code generated from now on by what `make` returns; it
  // is given the change in effect, which may be empty. Copies of the graph keep
  // it.
  BodyTransformScope on_generate_code(
      const std::function<BodyTransform(BodyTransform current)>& make);
  const BodyTransform& body_transform() const { return body_transform_; }
  // What the code of this graph does with its inputs and outputs.
  ValueList process_inputs(ValueList inputs) const {
    return codegen().process_inputs(std::move(inputs));
  }
  Value process_outputs(Value outputs) const {
    return codegen().process_outputs(std::move(outputs));
  }
  bool has_codegen() const { return codegen_ != nullptr; }
  const std::shared_ptr<const CodeGen>& shared_codegen() const {
    return codegen_;
  }

  // Makes `name` unavailable to nodes created later.
  void reserve_name(std::string_view name);
  // Functions that learn of edits (GraphModule registers them). Copies of the
  // graph have none.
  NodeHooks& hooks();
  // The tracer behind `fx::proxy(node)`.
  TracerBase& appending_tracer();
  // From now on, the first edit lets the owning module keep a copy of the graph
  // as it is: edits take effect at its `recompile` only.
  void freeze() { frozen_ = true; }

 private:
  friend class Node;
  friend class InsertScope;
  friend class BodyTransformScope;
  friend class GraphModule;

  template <typename Fn>
  static Value map_value(const Value& value, Fn& map) {
    return map_leaves(value, [&](const Value& leaf) {
      return leaf.is_node() ? Value(map(leaf.as_node())) : leaf;
    });
  }
  template <typename Fn>
  static ValueList map_list(const ValueList& args, Fn& map) {
    ValueList mapped;
    mapped.reserve(args.size());
    for (const Value& arg : args) mapped.push_back(map_value(arg, map));
    return mapped;
  }
  template <typename Fn>
  static Kwargs map_kwargs(const Kwargs& kwargs, Fn& map) {
    Kwargs mapped;
    mapped.reserve(kwargs.size());
    for (const auto& [key, arg] : kwargs)
      mapped.emplace_back(key, map_value(arg, map));
    return mapped;
  }

  static void check_target(Opcode op, const Target& target, const Graph& graph,
                           std::string_view name);
  static Target named_target(Opcode op, const Target& target);
  NodePtr call_on_tensor(std::string_view function, std::string_view method,
                         ValueList args);
  NodePtr allocate(Opcode op);
  NodePtr slot(uint32_t id) const;
  static void check_copyable(const Graph& source, const ValueMap& map);
  NodePtr copy_node_with_args(const Node& node, ValueList args, Kwargs kwargs);
  Target own(const Target& target);
  uint32_t next_epoch();
  // Every edit starts with this.
  void touch() {
    if (frozen_) thaw();
  }
  void thaw();
  void move_anchor_off(const Node* node);
  void run_create_hooks(NodePtr node);
  void warn_of_missing(std::string_view qualified_name) const;
  void remove(NodePtr node);
  void lint_order() const;
  void lint_names() const;
  void lint_targets(const nn::Module& root) const;
  bool eliminate_in_submodules();

  std::unique_ptr<GraphNames> names_;  // Before everything that views into it.
  std::vector<std::byte*> slabs_;  // Nodes in order of id, erased included.
  uint32_t next_id_ = 0;
  uint32_t epoch_ = 0;
  bool frozen_ = false;
  bool names_forced_ = false;  // Node::force_name was used: lint looks.
  size_t size_ = 0;
  NodePtr root_ = nullptr;
  NodePtr insert_anchor_ = nullptr;
  bool insert_after_ = false;
  GraphModule* owning_module_ = nullptr;
  std::shared_ptr<const CodeGen> codegen_;  // Shared by copies of the graph.
  BodyTransform body_transform_;            // Mostly empty.
  std::unique_ptr<TracerBase> appending_tracer_;
  std::unique_ptr<NodeHooks> hooks_;  // Null: never asked for.
};

}  // namespace fxjit::fx
