#include "src/import/pt2/graph.h"

#include <utility>

#include "fxjit/exported.h"
#include "fxjit/fx/graph_module.h"
#include "fxjit/pt2.h"
#include "src/fx/control_flow/functions.h"
#include "src/import/pt2/archive.h"
#include "src/import/pt2/origin.h"

namespace fxjit::import {
namespace {

constexpr std::string_view kGradMode =
    "torch.ops.higher_order.wrap_with_set_grad_enabled";
constexpr std::string_view kAutocast =
    "torch.ops.higher_order.wrap_with_autocast";

// A note of the exporter that a tensor has a dtype, device and layout: the
// graph computes the same dtypes here, and has no others of the rest.
bool is_note(const Field& node) {
  if (node.at("target").text() !=
      "torch.ops.aten._assert_tensor_metadata.default")
    return false;
  for (const Field& input : node.at("inputs").items()) {
    const std::string& name = input.at("name").text();
    if (name == "size" || name == "stride") return false;
  }
  return true;
}

// "add" of "torch.ops.aten.add.Tensor".
std::string short_name(std::string_view target) {
  constexpr std::string_view kAten = "torch.ops.aten.";
  if (target.starts_with(kAten)) target.remove_prefix(kAten.size());
  return std::string(target.substr(0, target.find('.')));
}

bool has_graph(const Field& node) {
  for (const Field& input : node.at("inputs").items())
    if (input.at("arg").variant().first == "as_graph") return true;
  return false;
}

// Calls that nothing serves are refused when they are read.
void check_arguments(const fx::Target& function, const ValueList& args,
                     const Kwargs& kwargs, const Field& node) {
  const ops::Spelling* const called = function.spelling();
  if (!called) return;
  try {
    ops::bind(*called, args, kwargs);
  } catch (Error& error) {
    error.extend("\n  in " + node.place(), {});
    throw;
  }
}

// What a call of control flow takes, in order: values, graphs and lists.
std::string_view control_form(fx::ControlFlow kind) {
  switch (kind) {
    case fx::ControlFlow::cond:
      return "value, graph, graph, list";
    case fx::ControlFlow::while_loop:
      return "graph, graph, list, list";
    case fx::ControlFlow::scan:
      return "graph, list, list, list";
    case fx::ControlFlow::associative_scan:
    case fx::ControlFlow::map:
      return "graph, list, list";
  }
  throw InternalError("[pt2] unknown control flow");
}

}  // namespace

void GraphReader::read_nodes(const Field& graph, Names& names) {
  const std::optional<Field> outer =
      std::exchange(tensors_, graph.find("tensor_values"));
  for (const Field& node : graph.at("nodes").items()) read_node(node, names);
  tensors_ = outer;
}

void GraphReader::read_node(const Field& node, Names& names) {
  if (is_note(node)) return;
  const std::string& target = node.at("target").text();
  read_origin(node);
  if (has_graph(node)) {
    const auto function = fx::find_callable(target);
    if (function && fx::find_control_flow(function->function()))
      read_control(node, *function, names);
    else
      inline_graph(node, target, names);
    return;
  }
  const fx::Target function = find_target(target, node);
  ValueList args;
  Kwargs kwargs;
  read_arguments(node, names, args, kwargs);
  // The graph is not used in the end where a function is missing.
  if (!function.callable()) {
    bind_results(node, nullptr, names);
    return;
  }
  check_arguments(function, args, kwargs, node);
  const auto own_name = node.find("name");
  const Field outputs = node.at("outputs");
  const Value results = read_results(outputs);
  std::string name = own_name ? own_name->text() : short_name(target);
  if (results.size() == 1 && results.at(0).is_string())
    name = results.at(0).as_string();
  const fx::NodePtr call =
      graph_.call_function(function, std::move(args), std::move(kwargs), name);
  describe(call);
  bind_results(node, call, names);
}

void GraphReader::read_arguments(const Field& node, const Names& names,
                                 ValueList& args, Kwargs& kwargs) {
  constexpr int64_t kPositional = 1, kKeyword = 2;
  for (const Field& input : node.at("inputs").items()) {
    const auto [form, argument] = input.at("arg").variant();
    Value value = form == "as_complex"
                      ? complex_number(argument, dtype_of_result(node))
                      : read_argument(input.at("arg"), names);
    const auto kind = input.find("kind");
    const int64_t number = kind ? kind->integer() : kPositional;
    if (number == kPositional && kwargs.empty())
      args.push_back(std::move(value));
    else if (number == kKeyword)
      kwargs.emplace_back(input.at("name").text(), std::move(value));
    else
      input.fail("kind: expected 1, positional, or behind those 2, keyword");
  }
}

// The complex dtype of the node's first result, or the widest: in the result's
// type a tensor without dims is what a number is.
DType GraphReader::dtype_of_result(const Field& node) const {
  for (const Field& output : node.at("outputs").items()) {
    const auto name = defined_name(output);
    const auto meta = name && tensors_ ? tensors_->find(name->c_str())
                                       : std::optional<Field>();
    const DType dtype = meta ? read_dtype(meta->at("dtype")) : DType::f32;
    if (is_complex(dtype)) return dtype;
  }
  return DType::c128;
}

// {"real": 0.5, "imag": 2} as a tensor, which the table of ops takes instead.
Value GraphReader::complex_number(const Field& number, DType dtype) {
  const auto part = [&](const char* name) {
    const fx::NodePtr made =
        graph_.call_function("torch.full", {Dims(), number.at(name).number()},
                             {{"dtype", part_type(dtype)}});
    describe(made);
    return Value(made);
  };
  const Value real = part("real"), imag = part("imag");
  const fx::NodePtr made = graph_.call_function("torch.complex", {real, imag});
  describe(made);
  return made;
}

// Results stand one by one, also a single one: the call gives a tuple of them.
void GraphReader::read_control(const Field& node, const fx::Target& function,
                               Names& names) {
  ValueList args;
  std::string form;
  for (const Field& input : node.at("inputs").items()) {
    const auto [kind, argument] = input.at("arg").variant();
    const bool body = kind == "as_graph";
    args.push_back(body ? read_body(argument)
                        : read_argument(input.at("arg"), names));
    form += form.empty() ? "" : ", ";
    form += body ? "graph" : args.back().is_sequence() ? "list" : "value";
  }
  const std::string wanted(
      control_form(*fx::find_control_flow(function.function())));
  if (form != wanted)
    node.at("inputs").fail(std::string(function.text()) + " takes (" + wanted +
                           "), got (" + form + ")");
  const auto own_name = node.find("name");
  const fx::NodePtr call = graph_.call_function(
      function, std::move(args), {},
      own_name ? own_name->text() : short_name(function.text()));
  describe(call);
  const Field outputs = node.at("outputs");
  Value results = read_results(outputs);
  if (results.size() == 1 && results.at(0).is_list()) results = results.at(0);
  for (size_t i = 0; i < results.size(); ++i)
    bind_part(results.at(i), call, i, names);
}

// {"name": ..., "graph": ...}: a member, and the node that names it.
Value GraphReader::read_body(const Field& body) {
  const std::string& name = body.at("name").text();
  const Field graph = body.at("graph");
  auto made = std::make_unique<fx::Graph>();
  GraphReader reader(*made);
  Names names;
  for (const Field& input : graph.at("inputs").items()) {
    const auto own = defined_name(input);
    const fx::NodePtr node = made->placeholder(
        own ? *own : "arg" + std::to_string(made->placeholders().size()));
    if (own) define(input, *own, Value(node), names);
  }
  reader.read_nodes(graph, names);
  missing_.merge(reader.missing_);
  ValueList results;
  for (const Field& output : graph.at("outputs").items())
    results.push_back(read_argument(output, names));
  const bool single = graph.at("is_single_tensor_return").boolean();
  if (single && results.size() != 1)
    graph.at("outputs").fail("expected one, as is_single_tensor_return says");
  made->output(single ? results[0] : Value::tuple(std::move(results)));
  for (const auto& [known, member] : members_)
    if (known == name) body.at("name").fail("\"" + name + "\" is named twice");
  members_.emplace_back(name,
                        nn::ModuleRef(std::make_shared<fx::GraphModule>(
                            reader.members(), std::move(made), "<lambda>")));
  const fx::NodePtr node =
      graph_.create_node(fx::Opcode::get_attr, name, {}, {}, name);
  describe(node);
  return node;
}

fx::Target GraphReader::find_target(const std::string& name,
                                    const Field& node) {
  if (const auto found = pt2::exported_function(name)) return *found;
  const std::string hosted = std::string(pt2::kHosted) + name;
  if (const fx::Function* const found = fx::find_defined_function(hosted))
    return *found;
  const SourceLocation source = innermost_source(trace_);
  const std::string where = source.known() ? source.str() : node.path();
  missing_.emplace(name, where);
  return {};
}

void GraphReader::check_functions(const std::string& file) const {
  if (missing_.empty()) return;
  std::string text =
      "[pt2] " + file + ": " + std::to_string(missing_.size()) +
      (missing_.size() == 1 ? " function is" : " functions are") +
      " not supported:";
  bool mapped = false;
  for (const auto& [name, where] : missing_) {
    text += "\n  " + name + " (first at " + where + ")";
    mapped |= name.starts_with("torch._functorch.predispatch.");
  }
  if (mapped)
    text +=
        "\ntorch.vmap is recorded slice by slice: save "
        "program.run_decompositions({}) in place of program";
  throw pt2::MissingFunctions(text);
}

void GraphReader::bind_results(const Field& node, fx::NodePtr call,
                               Names& names) {
  const Field outputs = node.at("outputs");
  const Value results = read_results(outputs);
  if (results.size() == 1) {
    const Value& only = results.at(0);
    if (only.is_string())
      define(outputs, std::string(only.as_string()),
             call ? Value(call) : Value(), names);
    else if (only.is_list())
      for (size_t i = 0; i < only.size(); ++i)
        bind_part(only.at(i), call, i, names);
    return;
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const Value& part = results.at(i);
    if (!part.is_list()) {
      bind_part(part, call, i, names);
      continue;
    }
    const fx::NodePtr list =
        call ? graph_.call_function("_operator.getitem", {call, i}) : nullptr;
    if (list) describe(list);
    for (size_t j = 0; j < part.size(); ++j)
      bind_part(part.at(j), list, j, names);
  }
}

void GraphReader::bind_part(const Value& name, fx::NodePtr whole, size_t index,
                            Names& names) {
  if (!name.is_string()) return;
  const std::string text(name.as_string());
  fx::NodePtr part = nullptr;
  if (whole) {
    part = graph_.call_function("_operator.getitem", {whole, index}, {}, text);
    describe(part);
  }
  names[text] = part ? Value(part) : Value();
}

void GraphReader::define(const Field& place, const std::string& name,
                         Value value, Names& names) {
  if (!names.emplace(name, std::move(value)).second)
    place.fail("\"" + name + "\" is computed twice");
}

// before: a call with a graph among its arguments, behind which stand the
// graph's inputs; after: the nodes of that graph.
void GraphReader::inline_graph(const Field& node, const std::string& target,
                               Names& names) {
  const std::vector<Field> inputs = node.at("inputs").items();
  const size_t place = target == kGradMode ? 1 : target == kAutocast ? 4 : 0;
  if (place == 0)
    node.at("target").fail(target +
                           ": graphs as its arguments are not supported");
  if (inputs.size() <= place)
    node.at("inputs").fail("expected a graph behind " + std::to_string(place) +
                           " arguments");
  if (target == kAutocast && inputs[2].at("arg").at("as_bool").boolean())
    node.at("target").fail(target +
                           ": autocast to another type is not "
                           "supported: export the model without it");
  const auto [kind, argument] = inputs[place].at("arg").variant();
  if (kind != "as_graph") inputs[place].fail("expected as_graph");
  const Field graph = argument.at("graph");
  const std::vector<Field> parameters = graph.at("inputs").items();
  if (parameters.size() != inputs.size() - place - 1)
    graph.at("inputs").fail("expected " +
                            std::to_string(inputs.size() - place - 1) +
                            ", as many as are passed");
  Names inner;
  for (size_t i = 0; i < parameters.size(); ++i)
    if (const auto name = defined_name(parameters[i]))
      inner[*name] = read_argument(inputs[place + 1 + i].at("arg"), names);
  read_nodes(graph, inner);
  const std::vector<Field> returned = graph.at("outputs").items();
  const Field outputs = node.at("outputs");
  Value results = read_results(outputs);
  if (results.size() == 1 && results.at(0).is_list()) results = results.at(0);
  if (results.size() != returned.size())
    outputs.fail("expected " + std::to_string(returned.size()) +
                 ", as many as the graph has");
  for (size_t i = 0; i < returned.size(); ++i)
    if (results.at(i).is_string())
      define(outputs, std::string(results.at(i).as_string()),
             read_argument(returned[i], inner), names);
}

void GraphReader::read_origin(const Field& node) {
  trace_.clear();
  stack_ = nullptr;
  const auto metadata = node.find("metadata");
  if (!metadata) return;
  if (const auto trace = metadata->find("stack_trace")) trace_ = trace->text();
  if (const auto text = metadata->find("nn_module_stack")) {
    auto& stack = stacks_[text->text()];
    if (!stack)
      stack = std::make_shared<const fx::ModuleStack>(
          read_module_stack(text->text()));
    stack_ = stack;
  }
}

void GraphReader::describe(fx::NodePtr node) {
  pt2::set_stack_trace(node, trace_);
  node->set_module_stack(stack_);
}

}  // namespace fxjit::import
