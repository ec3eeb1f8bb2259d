#include "fxjit/fx/passes/graph_drawer.h"

#include <algorithm>
#include <cctype>

#include "fxjit/fx/passes/shape_prop.h"
#include "src/fx/passes/md5.h"
#include "src/fx/text/print_value.h"
#include "src/ops/python/items.h"

namespace fxjit::fx::passes {
namespace {

constexpr std::string_view kColors[] = {
    "CadetBlue1",   "Coral",        "DarkOliveGreen1", "DarkSeaGreen1",
    "GhostWhite",   "Khaki1",       "LavenderBlush1",  "LightSkyBlue",
    "MistyRose1",   "MistyRose2",   "PaleTurquoise2",  "PeachPuff1",
    "Salmon",       "Thistle1",     "Thistle3",        "Wheat1"};
// Longer lists are cut in labels.
constexpr size_t kMaxListLength = 8;

void replace_all(std::string& text, std::string_view from,
                 std::string_view to) {
  for (size_t at = text.find(from); at != text.npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// Braces mean structure in record labels.
std::string escaped(std::string text) {
  replace_all(text, "{", "\\{");
  replace_all(text, "}", "\\}");
  return text;
}

std::string quoted(std::string text) {
  replace_all(text, "\"", "\\\"");
  replace_all(text, "\n", "\\n");
  return "\"" + text + "\"";
}

std::string quoted_if_necessary(const std::string& name) {
  static constexpr std::string_view kReserved[] = {
      "graph", "node", "edge", "digraph", "subgraph", "strict"};
  std::string lower;
  bool plain = !name.empty() && !std::isdigit(name[0]);
  for (char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    lower += static_cast<char>(std::tolower(byte));
    plain = plain && (std::isalnum(byte) || c == '_');
  }
  const bool reserved = std::find(std::begin(kReserved), std::end(kReserved),
                                  lower) != std::end(kReserved);
  return plain && !reserved ? name : quoted(name);
}

std::string argument(const Value& value) {
  std::string text;
  if (!value.is_sequence() || value.size() <= kMaxListLength) {
    append_argument(text, value);
    return text;
  }
  const ValueList& items = value.as_sequence();
  for (size_t i = 0; i < kMaxListLength; ++i) {
    if (i) text += ", ";
    append_argument(text, items[i]);
  }
  text += ", ...[total_len=" + std::to_string(items.size()) + "]";
  return value.is_list() ? "[" + text + "]" : "(" + text + ")";
}

std::string argument_label(const std::vector<std::string>& arguments,
                           bool keywords, bool skip_nodes) {
  std::string text;
  size_t count = 0;
  for (const std::string& argument : arguments) {
    if (skip_nodes && argument.find('%') != argument.npos) continue;
    text += (count++ ? ",\\n" : "") + argument;
  }
  if (count == 0) return "";
  text = (keywords ? "|kwargs={\\l" : "|args=(\\l") + text +
         (keywords ? ",\\n}\\l" : ",\\n)\\l");
  if (count == 1) {
    replace_all(text, "\\l", "");
    replace_all(text, "\\n", "");
  }
  return escaped(std::move(text));
}

std::string tuple_text(const Dims& dims) {
  return repr(ops::python::size_tuple(dims));
}

void append_tensor_meta(std::string& label, const Value& value) {
  visit_leaves(value, [&](const Value& leaf) {
    const TensorMetadata* const facts = tensor_metadata(leaf);
    if (!facts) return;
    label += "|dtype=" + repr(Value(facts->dtype)) + "\\n";
    label += "|shape=" + tuple_text(facts->shape) + "\\n";
    label += std::string("|requires_grad=") +
             (facts->requires_grad ? "True" : "False") + "\\n";
    label += "|stride=" + tuple_text(facts->stride) + "\\n";
  });
}

class Writer {
 public:
  Writer(const GraphModule& module, const DrawerOptions& options)
      : module_(module), options_(options) {}

  std::string write(const std::string& name) {
    text_ = "digraph " + quoted_if_necessary(name) + " {\nrankdir=TB;\n";
    for (const Node* node : module_.graph().nodes())
      if (!ignored(*node)) add_node(*node);
    for (const Node* node : module_.graph().nodes()) {
      if (ignored(*node)) continue;
      for (const Node* user : node->users())
        add_edge(std::string(node->name()), std::string(user->name()));
    }
    return text_ + "}\n";
  }

 private:
  bool ignored(const Node& node) const {
    return options_.ignore_getattr && node.is(Opcode::get_attr);
  }

  void add_node(const Node& node) {
    text_ += quoted_if_necessary(std::string(node.name())) +
             " [label=" + quoted(label(node)) +
             ", shape=" + options_.dot_graph_shape +
             ", fillcolor=" + color(node) +
             ", style=\"filled,rounded\", fontcolor=\"#000000\"];\n";
    if (node.is(Opcode::call_module) && !options_.ignore_parameters_and_buffers)
      add_weights(node);
  }

  void add_edge(const std::string& from, const std::string& to) {
    text_ += quoted_if_necessary(from) + " -> " + quoted_if_necessary(to) +
             ";\n";
  }

  void add_weight(const Node& node, const std::string& name,
                  const Tensor& tensor, bool is_parameter) {
    const std::string full = std::string(node.name()) + "." + name;
    const std::string kind =
        is_parameter ? full + "|op_code=get_parameter" : "buffer\\l";
    text_ += quoted_if_necessary(full) + " [label=" +
             quoted("{" + kind + repr(Value(tensor.dtype())) +
                    repr(Value(tensor.sizes())) + "\\n}") +
             ", fillcolor=Salmon, style=\"filled,rounded\", "
             "fontcolor=\"#000000\", shape=" +
             options_.dot_graph_shape + "];\n";
    add_edge(full, std::string(node.name()));
  }

  void add_weights(const Node& node) {
    const nn::Module& module = module_.get_submodule(node.target_name());
    if (dynamic_cast<const GraphModule*>(&module)) return;
    for (const auto& [name, parameter] : module.named_parameters())
      if (parameter.defined()) add_weight(node, name, parameter.tensor(), true);
    for (const auto& [name, buffer] : module.named_buffers())
      if (buffer.defined()) add_weight(node, name, buffer.tensor(), false);
  }

  std::string color(const Node& node) const {
    if (options_.fill_color)
      if (const std::string color = options_.fill_color(node); !color.empty())
        return color;
    if (node.is(Opcode::placeholder)) return "\"AliceBlue\"";
    if (node.is(Opcode::call_module)) return "LemonChiffon1";
    if (node.is(Opcode::get_attr)) return "LightGrey";
    if (node.is(Opcode::output)) return "PowderBlue";
    return std::string(
        kColors[md5_prefix(node.target().pretty()) % std::size(kColors)]);
  }

  std::string label(const Node& node) const {
    std::string label = "{name=%" + std::string(node.name()) +
                        "|op_code=" + std::string(opcode_name(node.op())) +
                        "\\n";
    label += node.is(Opcode::call_module) ? module_label(node)
                                          : call_label(node);
    if (const Value* facts = node.meta().find("tensor_meta"))
      append_tensor_meta(label, *facts);
    if (options_.parse_stack_trace && node.source().known())
      label += "|file=" + node.source().str() + "\\n";
    return label + "}";
  }

  std::string module_label(const Node& node) const {
    const nn::Module& module = module_.get_submodule(node.target_name());
    return "\\n" + escaped(module.type_name()) + "\\n|" +
           escaped(module.extra_repr()) + "\\n";
  }

  std::string call_label(const Node& node) const {
    std::vector<std::string> args, kwargs;
    for (const Value& arg : node.args()) args.push_back(argument(arg));
    for (const auto& [key, arg] : node.kwargs())
      kwargs.push_back(key + ": " + argument(arg));
    const bool skip = options_.skip_node_names_in_args;
    return "|target=" + escaped(std::string(node.target_name())) + "\\n" +
           argument_label(args, false, skip) +
           argument_label(kwargs, true, skip) +
           "|num_users=" + std::to_string(node.num_users()) + "\\n";
  }

  const GraphModule& module_;
  const DrawerOptions& options_;
  std::string text_;
};

}  // namespace

FxGraphDrawer::FxGraphDrawer(const GraphModule& module, const std::string& name,
                             const DrawerOptions& options)
    : name_(name) {
  graphs_.emplace_back(name, Writer(module, options).write(name));
  for (const Node* node : module.graph().find_nodes(Opcode::call_module)) {
    const auto* const nested = dynamic_cast<const GraphModule*>(
        &module.get_submodule(node->target_name()));
    if (!nested) continue;
    const std::string full = name + "_" + std::string(node->target_name());
    const bool known =
        std::any_of(graphs_.begin(), graphs_.end(),
                    [&](const auto& graph) { return graph.first == full; });
    if (!known) graphs_.emplace_back(full, Writer(*nested, options).write(full));
  }
}

const std::string& FxGraphDrawer::get_dot_graph(
    std::string_view submodule) const {
  const std::string full = name_ + "_" + std::string(submodule);
  for (const auto& [name, text] : graphs_)
    if (name == full) return text;
  throw KeyError(full);
}

}  // namespace fxjit::fx::passes
