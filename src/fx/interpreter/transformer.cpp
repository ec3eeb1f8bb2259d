#include "fxjit/fx/transformer.h"

#include "fxjit/fx/traceback.h"
#include "src/fx/graph_module/called_module.h"

namespace fxjit::fx {
namespace {

// Every module is a leaf: calls are copied, not traced through.
class TransformerTracer : public Tracer {
 public:
  bool is_leaf_module(const nn::Module&, std::string_view) const override {
    return true;
  }
};

}  // namespace

Transformer::Transformer(const nn::Ref<GraphModule>& module)
    : Interpreter(*module),
      module_ref_(module),
      new_graph_(std::make_unique<Graph>()),
      tracer_(std::make_unique<TransformerTracer>()) {
  tracer_->graph = new_graph_.get();
  tracer_->root = module.ptr();
  tracer_->index_root();
}

Transformer::~Transformer() = default;

// Nodes made for `node` come from where it came from.
Value Transformer::run_node(const Node& node) {
  const SourceScope line(*tracer_, node.source());
  tracer_->module_stack = node.module_stack();
  return Interpreter::run_node(node);
}

Value Transformer::placeholder(const Target& target, const ValueList& args,
                               const Kwargs&) {
  const NodePtr node =
      new_graph_->create_node(Opcode::placeholder, target, args);
  return tracer_->proxy(node);
}

Value Transformer::get_attr(const Target& target, const ValueList& args,
                            const Kwargs& kwargs) {
  return tracer_->create_proxy(Opcode::get_attr, target, args, kwargs);
}

Value Transformer::call_module(const Target& target, const ValueList& args,
                               const Kwargs& kwargs) {
  return tracer_->call_module(*called_module(fetch_attr(target.text()), target),
                              args, kwargs);
}

Value Transformer::call_function(const Target& target, const ValueList& args,
                                 const Kwargs& kwargs) {
  return tracer_->create_proxy(Opcode::call_function, target, args, kwargs);
}

nn::Ref<GraphModule> Transformer::transform() {
  if (!new_graph_)
    throw RuntimeError("[transformer] transform: expected one call, got two");
  const ActiveTracerScope active(tracer_.get());
  const traceback::PreserveNodeMeta preserve;
  const Value result = run({}, {}, /*enable_io_processing=*/false);
  const NodePtr old_output = graph().output_node();
  const NodePtr output = new_graph_->output(tracer_->create_arg(result));
  output->copy_meta_from(*old_output);
  output->set_type({});  // As torch, which copies the meta alone.
  if (graph().has_codegen()) new_graph_->set_codegen(graph().shared_codegen());
  return GraphModule::create(*module_ref_, std::move(new_graph_));
}

}  // namespace fxjit::fx
