// NetMinimizer: finds the smallest part of a model for which two ways of
// running it give different results (torch.fx.passes.net_min_base): a new
// backend and the interpreter, or a graph before and after a pass.
//
//   class Minimizer : public passes::NetMinimizer {
//    public:
//     using NetMinimizer::NetMinimizer;
//     Value run_a(GraphModule& part, const ValueList& inputs) override;
//     Value run_b(GraphModule& part, const ValueList& inputs) override;
//   };
//   auto culprits = Minimizer(gm, inputs, passes::all_close(1e-5, 1e-6),
//                             {.traverse_method = TraverseMethod::binary})
//                       .minimize();
//
// Used by one thread at a time.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fxjit/fx/graph_module.h"
#include "fxjit/fx/interpreter.h"
#include "fxjit/fx/passes/tools_common.h"

namespace fxjit::fx::passes {

enum class TraverseMethod {
  sequential,  // Each node alone.
  binary,      // Halves of what differs.
  accumulate,  // From the start, one node more each time.
  block,       // The last, then the first node of the block that differs.
  skip,        // What lies between nodes given by name.
  defined,     // All nodes at once.
};

struct MinimizerOptions {
  TraverseMethod traverse_method = TraverseMethod::sequential;
  // Each way goes on with its own results; otherwise both get those of the
  // first.
  bool accumulate_error = false;
  // Go on behind the first find. For `sequential` and `binary`.
  bool find_all = false;
  // `run_nodes` compares the results of all nodes.
  bool return_intermediate = false;
  // Compare all that the rest of the model takes from a part, instead of the
  // last node's result.
  bool all_outputs = false;

  // torch's text of its settings.
  std::string str() const;
};

// A part whose two results differ, or that one way cannot run.
class FxNetMinimizerResultMismatchError : public RuntimeError {
 public:
  using RuntimeError::RuntimeError;
};
class FxNetMinimizerRunFuncError : public RuntimeError {
 public:
  using RuntimeError::RuntimeError;
};

// How far two results are apart, and whether that is near enough. `names` are
// the nodes whose results were asked for.
using MinimizerCompare = std::function<std::pair<double, bool>(
    const Value& a, const Value& b, const std::vector<std::string>& names)>;
// The greatest difference of an element; near enough within
// atol + rtol * |a|. Shapes, kinds and NaNs must agree.
MinimizerCompare all_close(double rtol, double atol);

// Called with the inputs of a part that differs, the part, and a name for it
// that ends in "_cpu" (inputs of the first way) or "_acc".
using MinimizerExporter = std::function<void(
    const ValueList& inputs, GraphModule& part, const std::string& name)>;
// Takes nodes out of a list before it is run. `start` and `end` are its place
// among all nodes, -1 where that has no meaning.
using MinimizerExclusion = std::function<void(std::vector<NodePtr>& nodes,
                                              int64_t start, int64_t end)>;

class NetMinimizer {
 public:
  // Takes one sample input per placeholder; AssertionError otherwise. Runs the
  // module on them for the shapes of all values.
  NetMinimizer(nn::Ref<GraphModule> module, ValueList sample_input,
               MinimizerCompare compare, MinimizerOptions options = {},
               MinimizerExporter exporter = {},
               MinimizerExclusion exclusion = {});
  virtual ~NetMinimizer() = default;

  // Run a part of the model. RuntimeError "run_a() is not implemented." by
  // default. Errors are finds.
  virtual Value run_a(GraphModule& part, const ValueList& inputs);
  virtual Value run_b(GraphModule& part, const ValueList& inputs);

  // The nodes to blame among those from `start` to `end`, both included, in
  // graph order; empty when there is no difference. Empty names mean the ends
  // of the graph. `skip_nodes`: for `skip`, RuntimeError without.
  // `find_last_node`: for `block`, search the last (true) or the first node
  // only.
  //
  // Unlike torch, `binary` with find_all gives the finds of both halves, and
  // `defined` and `skip` give every find.
  std::vector<NodePtr> minimize(
      std::string_view start = {}, std::string_view end = {},
      const std::optional<std::vector<std::string>>& skip_nodes = std::nullopt,
      std::optional<bool> find_last_node = std::nullopt);
  // Runs these nodes at once; the text of the difference, "" without one.
  std::string run_nodes(std::string_view start = {}, std::string_view end = {});

  // What was tried, one list of lines per step, in torch's words.
  const std::vector<std::vector<std::string>>& reports() const {
    return reports_;
  }
  // What `compare` gave for the results of these nodes.
  const std::vector<std::pair<std::vector<std::string>, double>>& results()
      const {
    return results_;
  }

 private:
  using Nodes = std::vector<NodePtr>;
  enum class Outcome { close, differs, fails };

  struct Part {
    nn::Ref<GraphModule> module;
    Nodes inputs;
    Nodes outputs;
  };

  Nodes collect(std::string_view start, std::string_view end) const;
  bool exclude(Nodes& nodes, int64_t start, int64_t end) const;
  Nodes with_fusions(const Nodes& nodes) const;

  Nodes sequential(const Nodes& nodes);
  Nodes binary(const Nodes& nodes, size_t begin, size_t end);
  Nodes accumulate(const Nodes& nodes);
  Nodes block(const Nodes& nodes, std::optional<bool> find_last_node);
  std::optional<size_t> block_end(const Nodes& nodes, size_t start, size_t end,
                                  bool find_last_node);
  Nodes skip(const Nodes& nodes, const std::vector<std::string>& skip_nodes);
  Nodes skip_part(Nodes part, size_t begin, size_t end);
  Nodes defined(Nodes nodes);

  // Runs these nodes at once and compares the results of `named`, or what is
  // used outside when that is empty.
  Outcome run(const Nodes& nodes, const Nodes& named, size_t report);
  void run_and_compare(const Nodes& nodes, const Nodes& named, size_t report);
  void check_order(const Nodes& nodes) const;
  Part build(const Nodes& nodes, const Nodes& named) const;
  Nodes used_outside(const Nodes& nodes) const;
  std::pair<ValueList, ValueList> inputs_of(const Part& part);
  void store(const Part& part, const Value& a, const Value& b);
  void export_part(const Part& part, const ValueList& a, const ValueList& b,
                   bool several);
  size_t new_report(std::vector<std::string> lines);
  void report(size_t at, std::string line) {
    reports_[at].push_back(std::move(line));
  }

  nn::Ref<GraphModule> module_;
  ValueList sample_input_;
  MinimizerCompare compare_;
  MinimizerOptions options_;
  MinimizerExporter exporter_;
  MinimizerExclusion exclusion_;
  NodeGroups fusions_;
  Nodes order_;                   // As the module's graph has them.
  std::vector<size_t> position_;  // By node id.
  Env a_outputs_, b_outputs_;
  Env reference_;  // What the interpreter gave, before the ways were run.
  bool has_reference_ = false;
  std::vector<std::vector<std::string>> reports_;
  std::vector<std::pair<std::vector<std::string>, double>> results_;
  int iteration_ = 0;
};

}  // namespace fxjit::fx::passes
