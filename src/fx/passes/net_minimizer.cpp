#include "fxjit/fx/passes/net_minimizer.h"

#include <algorithm>
#include <unordered_map>

#include "fxjit/fx/passes/shape_prop.h"
#include "src/support/errors/exception_text.h"

namespace fxjit::fx::passes {
namespace {

std::string name_of(const Node* node) { return std::string(node->name()); }

// "('a',)" of one result, "(('a', 'b'),)" of several: the arguments of the
// part's output node.
std::string key_text(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names)
    text += (text.empty() ? "'" : ", '") + name + "'";
  if (names.size() != 1) text = "(" + text + ")";
  return "(" + text + ",)";
}

// In the order of TraverseMethod.
constexpr std::string_view kMethodNames[] = {
    "sequential", "binary", "accumulate", "block", "skip", "defined"};

}  // namespace

std::string MinimizerOptions::str() const {
  std::string text = "FX Minimizer Settings:\n";
  auto add = [&](const char* name, std::string_view value) {
    text += std::string("\t") + name + ": " + std::string(value) + "\n";
  };
  auto flag = [](bool value) { return value ? "True" : "False"; };
  add("accumulate_error", flag(accumulate_error));
  add("traverse_method", kMethodNames[static_cast<size_t>(traverse_method)]);
  add("find_all", flag(find_all));
  add("return_intermediate", flag(return_intermediate));
  add("all_outputs", flag(all_outputs));
  return text;
}

NetMinimizer::NetMinimizer(nn::Ref<GraphModule> module, ValueList sample_input,
                           MinimizerCompare compare, MinimizerOptions options,
                           MinimizerExporter exporter,
                           MinimizerExclusion exclusion)
    : module_(std::move(module)),
      sample_input_(std::move(sample_input)),
      compare_(std::move(compare)),
      options_(options),
      exporter_(std::move(exporter)),
      exclusion_(std::move(exclusion)),
      order_(module_->graph().nodes().list()),
      position_(module_->graph().id_bound()),
      a_outputs_(module_->graph()),
      b_outputs_(module_->graph()),
      reference_(module_->graph()) {
  const std::vector<NodePtr> inputs = module_->graph().placeholders();
  if (inputs.size() != sample_input_.size())
    throw AssertionError("Placeholder count (" + std::to_string(inputs.size()) +
                         ") does not match sample_input count (" +
                         std::to_string(sample_input_.size()) + ")");
  for (size_t i = 0; i < inputs.size(); ++i) {
    a_outputs_.set(*inputs[i], sample_input_[i]);
    b_outputs_.set(*inputs[i], sample_input_[i]);
  }
  for (size_t i = 0; i < order_.size(); ++i) position_[order_[i]->id()] = i;
  ShapeProp(*module_).propagate(sample_input_);
  std::vector<NodePtr> calls;
  for (NodePtr node : order_)
    if (is_callable_node(*node)) calls.push_back(node);
  fusions_ = find_fusion_groups(*module_, calls);
}

Value NetMinimizer::run_a(GraphModule&, const ValueList&) {
  throw RuntimeError("run_a() is not implemented.");
}

Value NetMinimizer::run_b(GraphModule&, const ValueList&) {
  throw RuntimeError("run_b() is not implemented.");
}

size_t NetMinimizer::new_report(std::vector<std::string> lines) {
  reports_.push_back(std::move(lines));
  return reports_.size() - 1;
}

// A node that leaves the part and is needed again inside of it cannot be
// computed apart.
void NetMinimizer::check_order(const Nodes& nodes) const {
  const size_t first = position_[nodes.front()->id()];
  const size_t last = position_[nodes.back()->id()];
  if (last - first + 1 == nodes.size()) return;
  enum : uint8_t { before, inside, behind };
  std::vector<uint8_t> tag(last - first + 1, before);
  for (const Node* node : nodes) tag[position_[node->id()] - first] = inside;
  for (size_t i = first; i <= last; ++i) {
    if (!is_callable_node(*order_[i])) continue;
    for (const Node* input : order_[i]->all_input_nodes()) {
      const size_t at = position_[input->id()];
      const uint8_t of = at < first ? uint8_t{before} : tag[at - first];
      if (tag[i - first] == before && of != before) tag[i - first] = behind;
      if (tag[i - first] == inside && of == behind)
        throw AssertionError(
            "Component minimize order must be >= max of its upstream "
            "components, order=1 and max=2",
            order_[i]->error_context());
    }
  }
}

// By the place where each is used first.
NetMinimizer::Nodes NetMinimizer::used_outside(const Nodes& nodes) const {
  std::vector<bool> inside(position_.size());
  for (const Node* node : nodes) inside[node->id()] = true;
  std::vector<std::pair<std::pair<size_t, size_t>, NodePtr>> uses;
  for (NodePtr node : nodes) {
    std::pair<size_t, size_t> first(order_.size(), 0);
    for (const Node* user : node->users()) {
      if (inside[user->id()] || position_[user->id()] >= first.first) continue;
      const auto inputs = user->all_input_nodes();
      const auto slot = std::find(inputs.begin(), inputs.end(), node);
      first = {position_[user->id()],
               static_cast<size_t>(std::distance(inputs.begin(), slot))};
    }
    if (first.first < order_.size()) uses.emplace_back(first, node);
  }
  std::ranges::sort(uses, {}, [](const auto& use) { return use.first; });
  Nodes outputs;
  for (const auto& [place, node] : uses) outputs.push_back(node);
  return outputs;
}

NetMinimizer::Part NetMinimizer::build(const Nodes& nodes,
                                       const Nodes& named) const {
  auto graph = std::make_unique<Graph>();
  std::unordered_map<const Node*, NodePtr> copies;
  Part part;
  auto mapped = [&](NodePtr input) {
    if (const auto known = copies.find(input); known != copies.end())
      return known->second;
    NodePtr outer = nullptr;
    if (input->is(Opcode::get_attr)) {
      outer = graph->create_node(Opcode::get_attr, input->target());
    } else {
      outer = graph->placeholder(input->name());
      part.inputs.push_back(input);
    }
    outer->copy_meta_from(*input);
    return copies[input] = outer;
  };
  for (NodePtr node : nodes) {
    const NodePtr copy = graph->node_copy(*node, mapped);
    copies[node] = copy;
  }
  part.outputs =
      named.empty() || options_.all_outputs ? used_outside(nodes) : named;
  ValueList results;
  for (const Node* node : part.outputs) results.push_back(copies[node]);
  graph->output(results.size() == 1 ? results[0]
                                    : Value::tuple(std::move(results)));
  part.module = GraphModule::create(*module_, std::move(graph));
  return part;
}

// The results stored before where all are known, else those of the model as it
// is.
std::pair<ValueList, ValueList> NetMinimizer::inputs_of(const Part& part) {
  const bool stored =
      std::all_of(part.inputs.begin(), part.inputs.end(),
                  [&](const Node* node) { return a_outputs_.contains(*node); });
  if (!stored && !has_reference_) {
    Interpreter interpreter(*module_, /*garbage_collect_values=*/false);
    interpreter.run(sample_input_);
    reference_ = std::move(interpreter.env);
    has_reference_ = true;
  }
  ValueList a, b;
  for (const Node* node : part.inputs) {
    a.push_back(*(stored ? a_outputs_ : reference_).find(*node));
    b.push_back(stored && options_.accumulate_error ? *b_outputs_.find(*node)
                                                    : a.back());
  }
  return {std::move(a), std::move(b)};
}

void NetMinimizer::store(const Part& part, const Value& a, const Value& b) {
  const bool single = part.outputs.size() == 1;
  for (size_t i = 0; i < part.outputs.size(); ++i) {
    a_outputs_.set(*part.outputs[i], single ? a : a.at(i));
    b_outputs_.set(*part.outputs[i], single ? b : b.at(i));
  }
}

void NetMinimizer::export_part(const Part& part, const ValueList& a,
                               const ValueList& b, bool several) {
  if (!exporter_ || part.outputs.empty()) return;
  const std::string name =
      name_of(several ? part.outputs.front() : part.outputs.back());
  exporter_(a, *part.module, name + "_cpu");
  exporter_(b, *part.module, name + "_acc");
}

void NetMinimizer::run_and_compare(const Nodes& nodes, const Nodes& named,
                                   size_t at) {
  check_order(nodes);
  const Part part = build(nodes, named);
  const auto [a_inputs, b_inputs] = inputs_of(part);
  report(at, "Run and compare ...");
  Value a, b;
  auto fail = [&](const std::string& cause) {
    const std::string text =
        "Exception raised when running minimize: " + cause;
    report(at, text);
    throw FxNetMinimizerRunFuncError(text);
  };
  try {
    a = run_a(*part.module, a_inputs);
    b = run_b(*part.module, b_inputs);
    store(part, a, b);
  } catch (const Error& error) {
    fail(error.message());
  } catch (...) {
    fail(support::exception_text());
  }
  std::vector<std::string> names, key;
  for (const Node* node : named) names.push_back(name_of(node));
  for (const Node* node : part.outputs) key.push_back(name_of(node));
  const auto [difference, close] = compare_(a, b, names);
  const std::string text = key_text(key);
  results_.emplace_back(std::move(key), difference);
  report(at, "Numerical accuracy = " + repr(Value(difference)));
  if (close) return;
  report(at, "Result mismatch for " + text);
  export_part(part, a_inputs, b_inputs, part.outputs.size() > 1);
  throw FxNetMinimizerResultMismatchError(
      "Result mismatch for " + text,
      (part.outputs.empty() ? nodes : part.outputs).back()->error_context());
}

NetMinimizer::Outcome NetMinimizer::run(const Nodes& nodes, const Nodes& named,
                                        size_t at) {
  try {
    run_and_compare(nodes, named, at);
    return Outcome::close;
  } catch (const FxNetMinimizerResultMismatchError&) {
    return Outcome::differs;
  } catch (const FxNetMinimizerRunFuncError&) {
    return Outcome::fails;
  }
}

std::string NetMinimizer::run_nodes(std::string_view start,
                                    std::string_view end) {
  const Nodes nodes = collect(start, end);
  if (nodes.empty()) return "";
  const size_t at =
      reports_.empty() ? new_report({}) : reports_.size() - 1;
  try {
    run_and_compare(with_fusions(nodes),
                    options_.return_intermediate ? nodes : Nodes(), at);
  } catch (const FxNetMinimizerResultMismatchError& error) {
    return error.message();
  } catch (const FxNetMinimizerRunFuncError& error) {
    return error.message();
  }
  return "";
}

}  // namespace fxjit::fx::passes
