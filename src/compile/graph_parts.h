// How one module's graph is cut into parts at the nodes that stay with the
// interpreter, and which memory those may write. Nodes are of the
// CompiledModule's own copy of the graph.
#pragma once

#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "fxjit/fx/interpreter.h"
#include "fxjit/fx/wrap.h"
#include "src/passes/normalize.h"

namespace fxjit {

class GraphParts {
 public:
  using Known = std::function<const Value&(const fx::Node&)>;
  using Nodes = std::vector<const fx::Node*>;

  explicit GraphParts(const fx::GraphModule& module);

  // Compiles nothing: the part from `begin` (null: the graph's beginning) on.
  // The nodes behind are interpreted when there are too many parts already. One
  // thread at a time. `forget` is called when what was compiled before may no
  // longer be right, since a node was found that writes the module's tensors.
  passes::Part take(const fx::Node* begin, const Known& known,
                    const std::function<void()>& forget);

  // A part that take() gave before, of values whose sizes may be named
  // (fxjit/size.h); nothing where it does not end where that of numbers does.
  // One thread at a time, as take().
  std::optional<passes::Part> take_named(const fx::Node* begin,
                                         const Known& known) const;
  // Whether the value of a node follows from a call that a part ended at since
  // its result depends on data: its sizes change from call to call. One thread
  // at a time, as take().
  bool is_of_data(const fx::Node& node) const { return of_data_[node.id()]; }

  // Whether take() has found where the part from `begin` on ends. Thread-safe.
  bool knows(const fx::Node* begin) const;

  // The nodes before the part that begins at `begin` which decide what it
  // computes; null when no such part was taken. Thread-safe.
  const Nodes* read_by(const fx::Node* begin) const;
  // The node before which the part from `begin` on ends, null for the end of
  // the graph. Some calls may have ended it earlier. Null also if take() was
  // not called for that part. Thread-safe.
  const fx::Node* stop_of(const fx::Node* begin) const;
  // The earlier nodes that the graph reads from `begin` on.
  Nodes read_from(const fx::Node& begin) const {
    return reads_between(&begin, nullptr);
  }
  // The nodes whose values are known before the part [begin, stop) and not read
  // after it, so that they can be freed.
  Nodes dead_after(const fx::Node* begin, const fx::Node* stop) const;

  const fx::ExecutionPlan& plan() const { return plan_; }

 private:
  struct Extent {
    const fx::Node* stop = nullptr;
    std::exception_ptr why;
    Nodes reads;
  };

  const fx::Node* first() const { return *module_.graph().nodes().begin(); }
  Nodes reads_between(const fx::Node* begin, const fx::Node* end) const;
  bool note_writes(const fx::Node& node);
  void note_data(const fx::Node& source);
  void add_memory(const fx::Node& node,
                  std::unordered_set<const Storage*>& found) const;

  const fx::GraphModule& module_;
  const std::vector<int32_t> order_;
  const fx::ExecutionPlan plan_;
  std::unordered_set<const Storage*> changing_;
  std::vector<bool> of_data_;  // By node id.
  mutable std::mutex mutex_;   // Guards the map; entries stay.
  std::map<const fx::Node*, Extent> extents_;
};

// A copy of the user's module, from which parts are made.
struct GraphSource {
  explicit GraphSource(nn::Ref<fx::GraphModule> copy)
      : module(std::move(copy)), parts(*module) {}

  const nn::Ref<fx::GraphModule> module;
  GraphParts parts;
};

}  // namespace fxjit
