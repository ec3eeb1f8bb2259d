// What GraphBuilder's calls give: a node of its graph and whose memory it is.
// For the files of GraphBuilder only.
#pragma once

#include "src/passes/lowering/graph_builder.h"

namespace fxjit::passes {

// Whether two tensors are the same elements of one memory. Strides come first:
// those of named sizes are mostly known to differ, where a size could be equal
// to a number of channels.
inline bool same_view(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.dim() == b.dim() &&
         a.strides() == b.strides() && a.sizes() == b.sizes() &&
         a.offset() == b.offset();
}

class GraphBuilder::Proxy : public fx::ProxyBase, public fx::ControlRecorder {
 public:
  Proxy(GraphBuilder* builder, fx::NodePtr node, ValueMemory memory)
      : builder_(builder), node_(node), memory_(memory) {}

  const void* tracer_id() const override { return builder_; }
  Value record_function(const ops::Spelling& function, ValueList args,
                        Kwargs kwargs, SourceLocation source) override {
    return builder_->call(*function.op,
                          ops::bind(function, args, kwargs, source));
  }
  Value record_method(std::string_view method, ValueList args, Kwargs kwargs,
                      SourceLocation source) override {
    const ops::Spelling* spelling = ops::find_method(method);
    if (!spelling)
      throw AttributeError("'Tensor' object has no attribute '" +
                           std::string(method) + "'");
    return record_function(*spelling, std::move(args), std::move(kwargs),
                           source);
  }
  Value record_control(const fx::ControlCall& call) override {
    if (!builder_->on_control_) builder_->refuse("it calls control flow");
    return builder_->on_control_(call);
  }
  bool to_bool(SourceLocation source) override {
    ErrorContext context;
    context.source = source;
    throw TraceError(
        "symbolically traced variables cannot be used as inputs to control "
        "flow",
        context);
  }
  Value val() const override { return node_->val(); }
  std::string describe() const override {
    return "Proxy(" + std::string(node_->name()) + ")";
  }
  fx::NodePtr node() const { return node_; }
  const ValueMemory& memory() const { return memory_; }
  void set_memory(ValueMemory memory) { memory_ = memory; }

 private:
  GraphBuilder* builder_;
  fx::NodePtr node_;
  ValueMemory memory_;  // Set when the call that gives the proxy returns.
};

}  // namespace fxjit::passes
