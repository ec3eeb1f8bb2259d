// replace_pattern: finds the places of a graph that match a pattern and puts
// other code there (torch.fx.subgraph_rewriter).
//
//   fx::replace_pattern(
//       *gm, [](Value x, Value w) { return fxjit::relu(fxjit::matmul(x, w)); },
//       [](Value x, Value w) { return my_fused(x, w); });
//
// Pattern and replacement are functions of the same arguments, which stand for
// any values. The time taken is linear in the graph and in what is replaced.
//
// Everything is checked before the first edit: when a rewrite is refused, the
// graph is as it was. A graph may be rewritten by one thread at a time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fxjit/fx/graph_module.h"
#include "fxjit/fx/passes/subgraph_matcher.h"
#include "fxjit/fx/symbolic_trace.h"

namespace fxjit::fx {

// A pattern or a replacement: a graph, a graph module, a module or function to
// be traced. Graphs given by reference must outlive it and the matches found
// with it; all others are kept alive.
class Subgraph {
 public:
  Subgraph(const Graph& graph)  // NOLINT: converts by intent
      : graph_(&graph) {}
  Subgraph(std::shared_ptr<const Graph> graph)  // NOLINT
      : owner_(graph), graph_(graph.get()) {}
  Subgraph(std::unique_ptr<Graph> graph)  // NOLINT
      : Subgraph(std::shared_ptr<const Graph>(std::move(graph))) {}
  Subgraph(nn::Ref<GraphModule> module);      // NOLINT
  Subgraph(nn::ModuleRef module);             // NOLINT
  Subgraph(const TracedFunction& function);   // NOLINT
  template <typename T>
    requires std::derived_from<T, nn::Module>
  Subgraph(const nn::Ref<T>& module)  // NOLINT
      : Subgraph(nn::ModuleRef(module)) {}
  // `Value f(Value x, Value y)`, with the names of its arguments; by default
  // they are called "arg0", "arg1", ...
  template <typename F>
    requires nn::ValueCallable<F>
  Subgraph(F function, nn::Signature signature)
      : Subgraph(TracedFunction{
            "pattern", std::move(signature),
            [function = std::move(function)](std::vector<Value> bound) mutable {
              return nn::call_values(function, bound);
            }}) {}
  template <typename F>
    requires nn::ValueCallable<F>
  Subgraph(F function)  // NOLINT
      : Subgraph(std::move(function), numbered_arguments(nn::kArity<F>)) {}
  // Refused, in words.
  template <nn::UnknownCallable F>
  Subgraph(F, nn::Signature = {}) : graph_(nullptr) {  // NOLINT
    static_assert(nn::detail::kNever<F>, FXJIT_UNKNOWN_CALLABLE);
  }

  const Graph& graph() const { return *graph_; }
  // What its call_module and get_attr nodes refer to, when it is a module.
  const nn::Module* module() const { return module_; }
  // Traced from a function: `module` holds nothing but the tensors it uses.
  bool is_function() const { return is_function_; }
  // Keeps graph and module alive; null for a graph given by reference.
  const std::shared_ptr<const void>& owner() const { return owner_; }

 private:
  static nn::Signature numbered_arguments(size_t count);

  std::shared_ptr<const void> owner_;  // Shared with matches.
  const Graph* graph_;
  const nn::Module* module_ = nullptr;
  bool is_function_ = false;
};

// One place where a pattern was found. Nodes that were replaced are erased;
// they live as long as the graph. Nodes of the pattern live as long as this.
struct Match {
  const Node* anchor = nullptr;  // The pattern's (first) result.
  passes::NodesMap nodes_map;    // Pattern nodes to what they stood for.
  std::shared_ptr<const void> pattern;  // Keeps the pattern's nodes alive.
};

struct ReplacedPatterns : Match {
  std::vector<NodePtr> replacements;  // Nodes that were added, in order.
};

// Whether a match is to be replaced.
using MatchFilter = std::function<bool(
    const passes::InternalMatch&, const Graph& original, const Graph& pattern)>;
// The replacement of one match. Called for every match before the first edit;
// it may not edit the graph.
using ReplacementCallback = std::function<Subgraph(
    const passes::InternalMatch&, const Graph& original, const Graph& pattern)>;

struct RewriteOptions {
  // A match is replaced when all of them say so.
  std::vector<MatchFilter> match_filters = {};
  // Literals of the pattern match any literal.
  bool ignore_literals = false;
  // Takes the place of `replacement`.
  ReplacementCallback replacement_callback = {};
  // See SubgraphMatcher::match.
  std::string node_name_match = {};
};

// Replaces all matches of `pattern` that do not overlap, the first found first,
// and recompiles. Parameters and modules that the replacement refers to and
// `gm` lacks are taken over from it: tensors are copied, modules are shared.
// Submodules of `gm` that nothing uses any more are then deleted.
//
// AssertionError when pattern and replacement differ in the number of
// arguments or results, RuntimeError when the replacement refers to something
// that neither it nor `gm` has, KeyError when a part of the pattern is not
// connected to its results. Errors of lint when `gm` is ill-formed.
std::vector<Match> replace_pattern(GraphModule& gm, const Subgraph& pattern,
                                   const Subgraph& replacement);
std::vector<ReplacedPatterns> replace_pattern_with_filters(
    GraphModule& gm, const Subgraph& pattern, const Subgraph& replacement,
    const RewriteOptions& options = {});
// With `options.replacement_callback`; AssertionError without.
std::vector<ReplacedPatterns> replace_pattern_with_filters(
    GraphModule& gm, const Subgraph& pattern, const RewriteOptions& options);

}  // namespace fxjit::fx
