// Calls that write their first argument, replaced by calls that do not. Where
// only later readers of the very tensor could tell, they read the result; where
// views of the same memory are read later, all of them become views of the
// memory as it is after the write. Writes to what lives outside of the graph
// are refused. For normalize.
#pragma once

#include <optional>
#include <vector>

#include "src/passes/memory_classes.h"

namespace fxjit::passes {

class Writes {
 public:
  // As those of MemoryClasses.
  Writes(const std::vector<int32_t>& order, std::vector<Value>& values,
         GraphBuilder& builder)
      : values_(values), builder_(builder), memory_(order, values, builder) {}

  // Before and after the calls below for a captured node; `end` once its value
  // is known.
  void begin() { write_.reset(); }
  void end(const fx::Node& node);

  // The value of the call, whose first argument is a tensor or a proxy.
  // NotImplementedError where others could tell.
  Value call(const fx::Node& node, const ops::Op& op, ValueList args);
  // The same for a call that a module makes: the written tensor must not be
  // seen through other views.
  Value call_in_module(const fx::Node& node, const ops::Op& op, ValueList args);
  // args[0][args[1]] = args[2].
  void set_items(const fx::Node& node, const ValueList& args);
  // Whether the node at hand wrote a tensor.
  bool has_written() const { return write_.has_value(); }

 private:
  struct Write {
    Value written, after;
  };

  Value result_of(const fx::Node& node, const ops::Op& op, ValueList args);
  Value note(const fx::Node& node, const Value& written, const Value& result);
  Value note_part(const fx::Node& node, const Value& written,
                  const Value& result);
  Value put(const fx::Node& node, const Value& written, const Value& result);

  std::vector<Value>& values_;
  GraphBuilder& builder_;
  MemoryClasses memory_;
  std::optional<Write> write_;  // Of the node at hand.
};

}  // namespace fxjit::passes
