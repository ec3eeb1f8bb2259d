#include "fxjit/fx/subgraph_rewriter.h"

#include "src/fx/passes/rewrite.h"

namespace fxjit::fx {

Subgraph::Subgraph(nn::Ref<GraphModule> module)
    : owner_(module.ptr()), graph_(&module->graph()), module_(module.get()) {}

Subgraph::Subgraph(nn::ModuleRef module) {
  auto graph_module = std::dynamic_pointer_cast<GraphModule>(module.ptr());
  nn::Ref<GraphModule> traced =
      graph_module ? nn::Ref<GraphModule>(std::move(graph_module))
                   : symbolic_trace(module);
  *this = Subgraph(std::move(traced));
}

Subgraph::Subgraph(const TracedFunction& function)
    : Subgraph(symbolic_trace(function)) {
  is_function_ = true;
}

nn::Signature Subgraph::numbered_arguments(size_t count) {
  std::vector<nn::ArgSpec> args;
  for (size_t i = 0; i < count; ++i)
    args.emplace_back("arg" + std::to_string(i));
  return nn::Signature(std::move(args));
}

std::vector<Match> replace_pattern(GraphModule& gm, const Subgraph& pattern,
                                   const Subgraph& replacement) {
  std::vector<Match> matches;
  for (ReplacedPatterns& replaced :
       passes::Rewrite(gm, pattern, &replacement, {}).run())
    matches.push_back(std::move(replaced));
  return matches;
}

std::vector<ReplacedPatterns> replace_pattern_with_filters(
    GraphModule& gm, const Subgraph& pattern, const Subgraph& replacement,
    const RewriteOptions& options) {
  return passes::Rewrite(gm, pattern, &replacement, options).run();
}

std::vector<ReplacedPatterns> replace_pattern_with_filters(
    GraphModule& gm, const Subgraph& pattern, const RewriteOptions& options) {
  return passes::Rewrite(gm, pattern, nullptr, options).run();
}

}  // namespace fxjit::fx
