#include "src/passes/origins.h"

#include <algorithm>
#include <unordered_set>

#include "fxjit/fx/graph.h"

namespace fxjit::passes {
namespace {

// One name, or a tuple of several.
constexpr std::string_view kOrigin = "origin";
// The number of an ImageWay.
constexpr std::string_view kWay = "way";

}  // namespace

std::vector<std::string> origins_of(const fx::Node& node) {
  std::vector<std::string> names;
  const Value* const origin = node.meta().find(kOrigin);
  if (!origin) return names;
  if (origin->is_string()) return {std::string(origin->as_string())};
  for (const Value& name : origin->as_sequence())
    names.emplace_back(name.as_string());
  return names;
}

std::string line_of(const void* node) {
  const ErrorContext context =
      static_cast<const fx::Node*>(node)->error_context();
  if (context.source.known())
    return (context.op.empty() ? "" : context.op + ", ") + context.source.str();
  return "%" + context.node + (context.op.empty() ? "" : " = " + context.op);
}

void take_origins(fx::Node& node, std::span<const fx::NodePtr> replaced) {
  std::vector<std::string> names;
  for (const fx::NodePtr one : replaced)
    for (std::string& name : origins_of(*one))
      if (std::find(names.begin(), names.end(), name) == names.end())
        names.push_back(std::move(name));
  if (names.empty()) return;
  ValueList values;
  for (std::string& name : names) values.push_back(std::move(name));
  node.meta().set(kOrigin, Value::tuple(std::move(values)));
}

std::vector<fx::NodePtr> calls_between(std::span<const fx::NodePtr> inputs,
                                       fx::NodePtr last) {
  std::unordered_set<const fx::Node*> seen(inputs.begin(), inputs.end());
  std::vector<fx::NodePtr> calls{last};
  seen.insert(last);
  for (size_t i = 0; i < calls.size(); ++i)
    for (fx::NodePtr input : calls[i]->all_input_nodes())
      if (input->called_op() && seen.insert(input).second)
        calls.push_back(input);
  // Nodes are made in the order of the calls.
  std::sort(
      calls.begin(), calls.end(),
      [](const fx::Node* a, const fx::Node* b) { return a->id() < b->id(); });
  return calls;
}

void copy_origins(const fx::Node& node, fx::Node& copy) {
  const Value* const origin = node.meta().find(kOrigin);
  copy.meta().set(kOrigin, origin ? *origin : Value(node.name()));
}

void set_way(fx::Node& node, ImageWay way) {
  node.meta().set(kWay, static_cast<int64_t>(way));
}

ImageWay way_of(const fx::Node& node) {
  const Value* const way = node.meta().find(kWay);
  return way ? static_cast<ImageWay>(way->as_int()) : ImageWay::none;
}

}  // namespace fxjit::passes
