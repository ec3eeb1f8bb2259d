// Calls that write become calls that do not: who reads the memory later reads
// the new value, or a view of it. Inputs that are written have new values at
// the end. Used by normalize alone.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "src/passes/memory/memory_classes.h"
#include "src/passes/memory/result_memory.h"

namespace fxjit::passes {

// NotImplementedError: the node's target cannot be compiled, for this reason.
[[noreturn]] void refuse(const fx::Node& node, const char* why);
[[noreturn]] void refuse_write(const fx::Node& node);

class FollowedWrites {
 public:
  FollowedWrites(GraphBuilder& builder, MemoryClasses& memory)
      : builder_(builder), memory_(memory) {}

  // Inputs in their order.
  void add_input(const Value& placeholder);

  // Before each captured node; at most one write follows.
  void begin() {
    write_.reset();
    wrote_known_ = false;
  }
  // What the writing call gives. NotImplementedError where not all who see the
  // write can be told.
  Value write(const fx::Node& node, const ops::Op& op, ValueList args);
  Value set_item(const fx::Node& node, const ValueList& args);
  bool any() const { return write_.has_value() || wrote_known_; }
  // After the node, whose value is `value`: readers get what was written.
  void apply(const fx::Node& node, Value& value);

  // Results that are memory of written inputs say of which; the new values of
  // these become results, too. See ModelGraph::written.
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
