// Graphs of any length for the tests of passes.
#pragma once

#include <memory>

#include "fxjit/functions.h"
#include "fxjit/fx/graph_module.h"
#include "fxjit/nn.h"

namespace fxjit::fx::passes {

inline const Target kNeg = ops::get_function("torch.neg");
inline const Target kRelu = ops::get_function("torch.relu");

inline nn::Ref<GraphModule> module_of(std::unique_ptr<Graph> graph) {
  return GraphModule::create(nn::Module(), std::move(graph));
}

// neg and relu by turns, `run` of each.
inline nn::Ref<GraphModule> chain(int count, int run = 1) {
  auto graph = std::make_unique<Graph>();
  NodePtr x = graph->placeholder("x");
  for (int i = 0; i < count; ++i)
    x = graph->call_function(i / run % 2 ? kRelu : kNeg, {x});
  graph->output(x);
  return module_of(std::move(graph));
}

}  // namespace fxjit::fx::passes
