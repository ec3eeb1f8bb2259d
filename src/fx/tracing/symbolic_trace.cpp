#include "fxjit/fx/symbolic_trace.h"

namespace fxjit::fx {

void detail::throw_nothing_to_trace() {
  throw AssertionError("Expected FunctionType, got <class 'NoneType'>");
}

nn::Ref<GraphModule> symbolic_trace(nn::Module& root,
                                    const ConcreteArgs& concrete_args) {
  Tracer tracer;
  std::unique_ptr<Graph> graph = tracer.trace(root, concrete_args);
  auto traced = GraphModule::create(*tracer.root, std::move(graph), root.type_name());
  // They are the result's, not the user's.
  for (const std::string& name : tracer.added_bodies) root.remove_member(name);
  return traced;
}

nn::Ref<GraphModule> symbolic_trace(const TracedFunction& function,
                                    const ConcreteArgs& concrete_args) {
  Tracer tracer;
  std::unique_ptr<Graph> graph = tracer.trace(function, concrete_args);
  return GraphModule::create(*tracer.root, std::move(graph), function.name);
}

}  // namespace fxjit::fx
