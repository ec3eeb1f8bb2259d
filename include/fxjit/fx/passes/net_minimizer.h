// NetMinimizer: finds the smallest part of a model for which two ways of running
// it give different results (torch.fx.passes.net_min_base): a new backend and
// the interpreter, or a graph before and after a pass.
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
#include <string>
#include <utility>
#include <vector>

#include "fxjit/fx/graph_module.h"
#include "fxjit/fx/interpreter.h"

namespace fxjit::fx::passes {

enum class TraverseMethod {
  sequential,  // Each node alone.
  binary,      // Halves of what differs.
  accumulate,  // From the start, one node more each time.
  block,       // The last, then the first node of the block that differs.
};

struct MinimizerOptions {
  TraverseMethod traverse_method = TraverseMethod::sequential;
  // Each way goes on with its own results; otherwise both get those of the
  // first.
  bool accumulate_error = false;
  // Go on behind the first find. Not for `accumulate` and `block`.
  bool find_all = false;
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
// the nodes that gave them.
using MinimizerCompare = std::function<std::pair<double, bool>(
    const Value& a, const Value& b, const std::vector<std::string>& names)>;
// The greatest difference of an element; near enough within
// atol + rtol * |a|. Shapes, kinds and NaNs must agree.
MinimizerCompare all_close(double rtol, double atol);

class NetMinimizer {
 public:
  // Takes one sample input per placeholder; AssertionError otherwise.
  NetMinimizer(nn::Ref<GraphModule> module, ValueList sample_input,
               MinimizerCompare compare, MinimizerOptions options = {});
  virtual ~NetMinimizer() = default;

  // Run a part of the model. RuntimeError "run_a() is not implemented." by
  // default. Errors are finds.
  virtual Value run_a(GraphModule& part, const ValueList& inputs);
  virtual Value run_b(GraphModule& part, const ValueList& inputs);

  // The nodes to blame among those from `start` to `end`, both included, in
  // graph order; empty when there is no difference. Empty names mean the ends of
  // the graph.
  std::vector<Node*> minimize(std::string_view start = {},
                              std::string_view end = {});
  // Runs these nodes at once; the text of the difference, "" without one.
  std::string run_nodes(std::string_view start = {}, std::string_view end = {});

  // What was tried, one list of lines per step.
  const std::vector<std::vector<std::string>>& reports() const {
    return reports_;
  }

 private:
  using Nodes = std::vector<Node*>;
  Nodes collect(std::string_view start, std::string_view end) const;
  Nodes sequential(const Nodes& nodes);
  Nodes binary(const Nodes& nodes, size_t begin, size_t end);
  Nodes accumulate(const Nodes& nodes);
  Nodes block(const Nodes& nodes);
  // Whether these nodes, run at once, differ in the last one's result.
  bool differs(const Nodes& nodes, std::vector<std::string>& report);
  void run_and_compare(const Nodes& nodes, const Nodes& results,
                       std::vector<std::string>& report);
  const Value& value_of(const Node& node, const Env& stored);
  std::vector<std::string>& new_report(std::string title);

  nn::Ref<GraphModule> module_;
  ValueList sample_input_;
  MinimizerCompare compare_;
  MinimizerOptions options_;
  Env a_outputs_, b_outputs_;
  Env reference_;  // Of the interpreter, where neither way has been run.
  bool has_reference_ = false;
  std::vector<std::vector<std::string>> reports_;
  int iteration_ = 0;
};

}  // namespace fxjit::fx::passes
