// Transformer: an Interpreter over proxies that builds a new graph. Override
// its handlers to replace nodes by other code; what they return is recorded.
#pragma once

#include <memory>

#include "fxjit/fx/interpreter.h"
#include "fxjit/fx/tracer.h"

namespace fxjit::fx {

class Transformer : public Interpreter {
 public:
  explicit Transformer(const nn::Ref<GraphModule>& module);
  ~Transformer() override;

  // The new module; the old one is untouched. Takes no inputs. Call once.
  nn::Ref<GraphModule> transform();

  Value placeholder(const Target& target, const ValueList& args,
                    const Kwargs& kwargs) override;
  Value get_attr(const Target& target, const ValueList& args,
                 const Kwargs& kwargs) override;
  Value call_module(const Target& target, const ValueList& args,
                    const Kwargs& kwargs) override;
  Value call_function(const Target& target, const ValueList& args,
                      const Kwargs& kwargs) override;
  Value run_node(const Node& node) override;

  Tracer& tracer() { return *tracer_; }
  Graph& new_graph() { return *new_graph_; }

 private:
  nn::Ref<GraphModule> module_ref_;
  std::unique_ptr<Graph> new_graph_;
  std::unique_ptr<Tracer> tracer_;
};

}  // namespace fxjit::fx
