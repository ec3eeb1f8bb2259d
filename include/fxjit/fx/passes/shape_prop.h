// What the values of a graph look like. ShapeProp runs a graph on sample inputs
// and records the shape and type of every result in meta["tensor_meta"];
// FakeTensorProp computes shapes and types alone, without running anything,
// into Node::val (torch's meta["val"]). After torch.fx.passes.shape_prop and
// fake_tensor_prop.
#pragma once

#include <optional>
#include <string>

#include "fxjit/fx/graph_module.h"
#include "fxjit/fx/interpreter.h"

namespace fxjit::fx::passes {

enum class MemoryFormat : uint8_t {
  contiguous,
  channels_last,
  channels_last_3d,
};

// Facts about one tensor. Immutable and shared; stands in a node's meta as an
// opaque value.
struct TensorMetadata : Counted {
  explicit TensorMetadata(const Tensor& tensor, bool requires_grad = false);

  Dims shape;
  DType dtype;
  bool requires_grad;
  Dims stride;
  // The first that the strides fit; none for other layouts.
  std::optional<MemoryFormat> memory_format;

  // As torch prints it: "TensorMetadata(shape=torch.Size([2, 3]), ...)".
  std::string str() const;
};

// meta["tensor_meta"] of a node whose result is one tensor; null otherwise. For
// other results it has a container of opaque values, see `tensor_metadata`.
const TensorMetadata* tensor_meta(const Node& node);
// An entry of such a container; null when the value is something else.
const TensorMetadata* tensor_metadata(const Value& value);

// Runs a module node by node. Besides "tensor_meta", for results that hold a
// tensor, it sets meta["type"] to the kind of the result ("Tensor", "tuple").
// One thread at a time.
class ShapeProp : public Interpreter {
 public:
  // With `fake`, nothing is run: inputs and weights are replaced by tensors
  // without data, and only shapes and types are computed.
  explicit ShapeProp(GraphModule& module, bool fake = false);

  // The result of the module. RuntimeError with torch's text "ShapeProp error
  // for: node=..." and the cause when a node fails; nodes before it keep what
  // was recorded.
  Value propagate(ValueList args);

  Value run_node(const Node& node) override;
  Value get_attr(const Target& target, const ValueList& args,
                 const Kwargs& kwargs) override;
  Value call_function(const Target& target, const ValueList& args,
                      const Kwargs& kwargs) override;

 private:
  bool fake_;
};

// Computes every node's `val` from the shapes and types of the inputs: tensors
// without data. Takes real or meta tensors; other arguments as they are. One
// thread at a time.
//
// `propagate` gives the result of the module, in meta tensors. Shape errors of
// ops are thrown on with the node; a program that depends on data is a
// RuntimeError.
class FakeTensorProp : public ShapeProp {
 public:
  explicit FakeTensorProp(GraphModule& module);

  Value run_node(const Node& node) override;
};

}  // namespace fxjit::fx::passes
