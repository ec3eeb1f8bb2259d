// What patterns of quantised tensors share: what stands behind a dequantised
// value, and new calls in place of one.
#pragma once

#include <optional>
#include <string_view>

#include "fxjit/op.h"
#include "src/passes/model_graph.h"

namespace fxjit::passes {

// Integers of 8 bits that a node dequantises; the zero point may be none.
struct Quantised {
  fx::NodePtr input = nullptr;
  Value scale, zero;

  // Whether scale and zero point are one number each, or have these sizes.
  bool fits(const Dims& sizes) const;
};

// None for other nodes, and for null.
std::optional<Quantised> quantised(fx::NodePtr node);

// The constant that a node casts to another type; null for other nodes, and for
// null.
fx::NodePtr constant_below_cast(fx::NodePtr node);

// Appends calls in front of a node, which they stand for.
class CallWriter {
 public:
  CallWriter(fx::Graph& graph, fx::NodePtr before)
      : graph_(graph), before_(before) {}

  fx::NodePtr call(const ops::Op& op, const ValueList& args);
  fx::NodePtr call(std::string_view op, const ValueList& args) {
    return call(ops::get_op(op), args);
  }

 private:
  fx::Graph& graph_;
  fx::NodePtr before_;
};

}  // namespace fxjit::passes
