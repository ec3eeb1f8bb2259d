#include "fxjit/fx/passes/net_minimizer.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace fxjit::fx::passes {
namespace {

bool is_call(const Node& node) {
  return node.is(Opcode::call_function) || node.is(Opcode::call_method) ||
         node.is(Opcode::call_module);
}

std::string name_of(const Node* node) { return std::string(node->name()); }

std::string number_text(double value) { return repr(Value(value)); }

// The leaves of both in order; false when their structure differs.
bool flatten_pair(const Value& a, const Value& b,
                  std::vector<std::pair<Value, Value>>& leaves) {
  std::vector<Value> left, right;
  visit_leaves(a, [&](const Value& leaf) { left.push_back(leaf); });
  visit_leaves(b, [&](const Value& leaf) { right.push_back(leaf); });
  if (a.kind() != b.kind() || left.size() != right.size()) return false;
  for (size_t i = 0; i < left.size(); ++i)
    leaves.emplace_back(std::move(left[i]), std::move(right[i]));
  return true;
}

bool compare_tensors(const Tensor& a, const Tensor& b, double rtol, double atol,
                     double* worst) {
  if (!(a.sizes() == b.sizes())) return false;
  const std::vector<float> x = a.to_floats(), y = b.to_floats();
  bool close = true;
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]))) continue;
    const double distance = std::abs(double{x[i]} - double{y[i]});
    *worst = std::isnan(distance) ? HUGE_VAL : std::max(*worst, distance);
    close = close && distance <= atol + rtol * std::abs(double{x[i]});
  }
  return close;
}

}  // namespace

MinimizerCompare all_close(double rtol, double atol) {
  return [rtol, atol](const Value& a, const Value& b,
                      const std::vector<std::string>&) {
    double worst = 0;
    bool close = true;
    std::vector<std::pair<Value, Value>> leaves;
    if (!flatten_pair(a, b, leaves)) return std::pair(HUGE_VAL, false);
    for (const auto& [x, y] : leaves)
      close = (x.is_tensor() && y.is_tensor()
                   ? compare_tensors(x.as_tensor(), y.as_tensor(), rtol, atol,
                                     &worst)
                   : same(x, y)) &&
              close;
    return std::pair(worst, close);
  };
}

NetMinimizer::NetMinimizer(nn::Ref<GraphModule> module, ValueList sample_input,
                           MinimizerCompare compare, MinimizerOptions options)
    : module_(std::move(module)),
      sample_input_(std::move(sample_input)),
      compare_(std::move(compare)),
      options_(options),
      a_outputs_(module_->graph()),
      b_outputs_(module_->graph()),
      reference_(module_->graph()) {
  const std::vector<Node*> inputs = module_->graph().placeholders();
  if (inputs.size() != sample_input_.size())
    throw AssertionError("Placeholder count (" + std::to_string(inputs.size()) +
                         ") does not match sample_input count (" +
                         std::to_string(sample_input_.size()) + ")");
  for (size_t i = 0; i < inputs.size(); ++i) {
    a_outputs_.set(*inputs[i], sample_input_[i]);
    b_outputs_.set(*inputs[i], sample_input_[i]);
  }
}

Value NetMinimizer::run_a(GraphModule&, const ValueList&) {
  throw RuntimeError("run_a() is not implemented.");
}

Value NetMinimizer::run_b(GraphModule&, const ValueList&) {
  throw RuntimeError("run_b() is not implemented.");
}

std::vector<std::string>& NetMinimizer::new_report(std::string title) {
  return reports_.emplace_back(1, std::move(title));
}

NetMinimizer::Nodes NetMinimizer::collect(std::string_view start,
                                          std::string_view end) const {
  Nodes nodes;
  bool add = start.empty();
  for (Node* node : module_->graph().nodes()) {
    if (!is_call(*node)) continue;
    add = add || node->name() == start;
    if (add) nodes.push_back(node);
    if (!end.empty() && node->name() == end) break;
  }
  return nodes;
}

const Value& NetMinimizer::value_of(const Node& node, const Env& stored) {
  if (const Value* known = stored.find(node)) return *known;
  if (!has_reference_) {
    Interpreter interpreter(*module_, /*garbage_collect_values=*/false);
    interpreter.run(sample_input_);
    reference_ = std::move(interpreter.env);
    has_reference_ = true;
  }
  return *reference_.find(node);
}

void NetMinimizer::run_and_compare(const Nodes& nodes, const Nodes& results,
                                   std::vector<std::string>& report) {
  auto graph = std::make_unique<Graph>();
  std::unordered_map<const Node*, Node*> copies;
  ValueList a_inputs, b_inputs;
  auto mapped = [&](Node* input) {
    if (const auto known = copies.find(input); known != copies.end())
      return known->second;
    Node* const outer = graph->placeholder(input->name());
    outer->copy_meta_from(*input);
    a_inputs.push_back(value_of(*input, a_outputs_));
    b_inputs.push_back(options_.accumulate_error ? value_of(*input, b_outputs_)
                                                 : a_inputs.back());
    return copies[input] = outer;
  };
  for (Node* node : nodes) {
    Node* const copy = graph->node_copy(*node, mapped);
    copies[node] = copy;
  }
  ValueList outputs;
  std::vector<std::string> names;
  for (const Node* node : results) {
    outputs.push_back(copies[node]);
    names.push_back(name_of(node));
  }
  graph->output(results.size() == 1 ? outputs[0]
                                    : Value::tuple(std::move(outputs)));
  const auto part = GraphModule::create(*module_, std::move(graph), "minimize");
  report.push_back("Run and compare ...");
  Value a, b;
  try {
    a = run_a(*part, a_inputs);
    b = run_b(*part, b_inputs);
  } catch (const std::exception& error) {
    const std::string text =
        std::string("Exception raised when running minimize: ") + error.what();
    report.push_back(text);
    throw FxNetMinimizerRunFuncError(text);
  }
  for (size_t i = 0; i < results.size(); ++i) {
    a_outputs_.set(*results[i], results.size() == 1 ? a : a.at(i));
    b_outputs_.set(*results[i], results.size() == 1 ? b : b.at(i));
  }
  const auto [difference, close] = compare_(a, b, names);
  report.push_back("Numerical accuracy = " + number_text(difference));
  if (close) return;
  const std::string text = "Result mismatch for " + names.back();
  report.push_back(text);
  throw FxNetMinimizerResultMismatchError(text, results.back()->error_context());
}

bool NetMinimizer::differs(const Nodes& nodes,
                           std::vector<std::string>& report) {
  try {
    run_and_compare(nodes, {nodes.back()}, report);
    return false;
  } catch (const FxNetMinimizerResultMismatchError&) {
    return true;
  } catch (const FxNetMinimizerRunFuncError&) {
    return true;
  }
}

std::string NetMinimizer::run_nodes(std::string_view start,
                                    std::string_view end) {
  const Nodes nodes = collect(start, end);
  if (nodes.empty()) return "";
  std::vector<bool> inside(module_->graph().id_bound());
  for (const Node* node : nodes) inside[node->id()] = true;
  Nodes results;
  for (Node* node : nodes) {
    const auto users = node->users();
    if (users.empty() || !std::all_of(users.begin(), users.end(),
                                      [&](const Node* user) {
                                        return inside[user->id()];
                                      }))
      results.push_back(node);
  }
  try {
    run_and_compare(nodes, results, new_report("Run nodes"));
  } catch (const FxNetMinimizerResultMismatchError& error) {
    return error.message();
  } catch (const FxNetMinimizerRunFuncError& error) {
    return error.message();
  }
  return "";
}

std::vector<Node*> NetMinimizer::minimize(std::string_view start,
                                          std::string_view end) {
  const Nodes nodes = collect(start, end);
  if (nodes.empty()) return {};
  switch (options_.traverse_method) {
    case TraverseMethod::sequential:
      return sequential(nodes);
    case TraverseMethod::binary:
      return binary(nodes, 0, nodes.size());
    case TraverseMethod::accumulate:
      return accumulate(nodes);
    case TraverseMethod::block:
      return block(nodes);
  }
  return {};
}

NetMinimizer::Nodes NetMinimizer::sequential(const Nodes& nodes) {
  Nodes culprits;
  for (Node* node : nodes) {
    auto& report = new_report("Sequential traverse iteration " +
                              std::to_string(++iteration_) + ".");
    report.push_back("Visit node: " + name_of(node));
    if (!differs({node}, report)) continue;
    report.push_back("Found culprit: " + name_of(node));
    culprits.push_back(node);
    if (!options_.find_all) break;
  }
  return culprits;
}

// Depth is the logarithm of the size.
NetMinimizer::Nodes NetMinimizer::binary(const Nodes& nodes, size_t begin,
                                         size_t end) {
  const Nodes part(nodes.begin() + static_cast<std::ptrdiff_t>(begin),
                   nodes.begin() + static_cast<std::ptrdiff_t>(end));
  auto& report = new_report("Binary search iteration " +
                            std::to_string(++iteration_));
  report.push_back("From node index " + std::to_string(begin) + ":" +
                   name_of(part.front()) + " to " + std::to_string(end - 1) +
                   ":" + name_of(part.back()) +
                   ". Size of the interested node list is " +
                   std::to_string(part.size()));
  if (!differs(part, report)) {
    report.push_back("No discrepancy found.");
    return {};
  }
  if (part.size() == 1) {
    report.push_back(
        "This is the last node in the sub-module. Search in the current branch "
        "is successful with culprit = {" +
        name_of(part[0]) + "}.");
    return part;
  }
  report.push_back(
      "Proceed to split and lower the halves of the current sub-module "
      "individually.");
  const size_t index = reports_.size() - 1;
  const size_t middle = begin + part.size() / 2;
  Nodes culprits = binary(nodes, begin, middle);
  if (!culprits.empty() && !options_.find_all) return culprits;
  const Nodes more = binary(nodes, middle, end);
  culprits.insert(culprits.end(), more.begin(), more.end());
  if (culprits.empty())
    reports_[index].push_back(
        "Further split and lowering found no errors. Unable to minimize the "
        "submodule with list of nodes.");
  return culprits;
}

NetMinimizer::Nodes NetMinimizer::accumulate(const Nodes& nodes) {
  Nodes part;
  for (Node* node : nodes) {
    auto& report = new_report("Accumulate traverse iteration " +
                              std::to_string(++iteration_) + ".");
    part.push_back(node);
    report.push_back("Add node: " + name_of(node));
    if (!differs(part, report)) continue;
    report.push_back("Found culprit " + name_of(node));
    return {node};
  }
  return {};
}

// First the shortest head of the list that differs, then the shortest tail of
// that head.
NetMinimizer::Nodes NetMinimizer::block(const Nodes& nodes) {
  auto at = [&](size_t i) {
    return nodes.begin() + static_cast<std::ptrdiff_t>(i);
  };
  auto part_differs = [&](size_t begin, size_t end) {
    auto& report = new_report("Block search iteration " +
                              std::to_string(++iteration_) + ": from " +
                              name_of(nodes[begin]) + " to " +
                              name_of(nodes[end - 1]));
    return differs(Nodes(at(begin), at(end)), report);
  };
  if (!part_differs(0, nodes.size())) {
    reports_.back().push_back("No culprits found");
    return {};
  }
  size_t low = 0, high = nodes.size();  // nodes[0, high) differs.
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    (part_differs(0, middle) ? high : low) = middle;
  }
  size_t first = 0, beyond = high;  // nodes[first, high) differs.
  while (beyond - first > 1) {
    const size_t middle = first + (beyond - first) / 2;
    (part_differs(middle, high) ? first : beyond) = middle;
  }
  return Nodes(at(first), at(high));
}

}  // namespace fxjit::fx::passes
