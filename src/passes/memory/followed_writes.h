// Replaces calls that write by calls that do not: later readers of the memory
// read the new value, or a view of it. The new values of written inputs become
// results of the graph. Used by normalize alone, which calls begin(), write()
// or set_item(), and apply() for each captured node in order, and add_to() at
// the end.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "src/passes/memory/memory_classes.h"
#include "src/passes/memory/result_memory.h"

namespace fxjit::passes {

// Throw NotImplementedError with the target of the node: it cannot be compiled,
// for the reason `why`, or because not all readers of what it writes can be
// found.
[[noreturn]] void refuse(const fx::Node& node, const char* why);
[[noreturn]] void refuse_write(const fx::Node& node);

class FollowedWrites {
 public:
  FollowedWrites(GraphBuilder& builder, MemoryClasses& memory)
      : builder_(builder), memory_(memory) {}

  // Adds the next placeholder. Called for all of them, in order, before any
  // node.
  void add_input(const Value& placeholder);

  // Called before each captured node, which writes at most once.
  void begin() {
    write_.reset();
    wrote_known_ = false;
  }
  // The result of the call of `op` that writes, or of `x[index] = value`.
  // Throws NotImplementedError if some readers of the written memory cannot be
  // found.
  Value write(const fx::Node& node, const ops::Op& op, ValueList args);
  Value set_item(const fx::Node& node, const ValueList& args);
  bool any() const { return write_.has_value() || wrote_known_; }
  // Called after the node, whose value is `value`: gives the new value to all
  // readers of the written memory.
  void apply(const fx::Node& node, Value& value);

  // Called at the end. Marks the results that are memory of written inputs, and
  // adds the new values of these inputs to the results; see
  // ModelGraph::written.
  void add_to(const Value& result, PlacedResult& placed);
  std::vector<int32_t> written_inputs() const;

 private:
  std::vector<Tensor> read_beside(const ValueList& args) const;
  bool may_write(const fx::Node& node, const Value& written);
  Value note_write(const fx::Node& node, const Value& written,
                   const Value& result);
  Value note_write_through(const fx::Node& node, const Value& written,
                           const Value& result);
  std::optional<Value> write_known(const fx::Node& node, const ops::Op& op,
                                   const ValueList& args);

  struct Write {
    Value written, after;
    Value base;  // All of the memory after the write; none: `after` is.
  };

  GraphBuilder& builder_;
  MemoryClasses& memory_;
  std::map<int32_t, int32_t> inputs_;  // Numbers of inputs, by memory.
  std::map<int32_t, Value> written_;   // New values of inputs' memory.
  std::optional<Write> write_;         // What the node at hand writes.
  bool wrote_known_ = false;           // It wrote numbers that are known.
};

}  // namespace fxjit::passes
