#include "src/fx/cpp_code/cpp_body.h"

#include <typeinfo>

#include "fxjit/fx/graph_module.h"
#include "fxjit/fx/pytree_codegen.h"
#include "src/fx/cpp_code/cpp_values.h"

namespace fxjit::fx {
namespace {

struct Operator {
  std::string_view name;    // Without "_operator.".
  std::string_view format;  // "{}" stands for an argument.
};

// Those that mean the same on Values; the in-place ones do not.
constexpr Operator kOperators[] = {
    {"add", "{} + {}"},     {"and_", "{} & {}"},
    {"eq", "{} == {}"},     {"floordiv", "operators::floordiv({}, {})"},
    {"ge", "{} >= {}"},     {"getitem", "getitem({}, {})"},
    {"gt", "{} > {}"},      {"invert", "~{}"},
    {"le", "{} <= {}"},     {"lshift", "{} << {}"},
    {"lt", "{} < {}"},      {"matmul", "operators::matmul({}, {})"},
    {"mod", "{} % {}"},     {"mul", "{} * {}"},
    {"ne", "{} != {}"},     {"neg", "-{}"},
    {"or_", "{} | {}"},     {"pos", "+{}"},
    {"pow", "operators::pow({}, {})"},
    {"rshift", "{} >> {}"}, {"sub", "{} - {}"},
    {"truediv", "{} / {}"}, {"xor", "{} ^ {}"},
};

size_t places(std::string_view format) {
  size_t count = 0;
  for (char c : format) count += c == '{';
  return count;
}

// The format of a call that can be written as an operator.
std::string_view operator_of(const Node& node) {
  constexpr std::string_view kPrefix = "_operator.";
  std::string_view name = node.target_name();
  if (!name.starts_with(kPrefix) || !node.kwargs().empty()) return {};
  name.remove_prefix(kPrefix.size());
  for (const Operator& entry : kOperators)
    if (entry.name == name && places(entry.format) == node.args().size())
      return entry.format;
  return {};
}

class BodyWriter {
 public:
  BodyWriter(const Graph& graph, std::string self)
      : graph_(graph), self_(std::move(self)), dies_at_(graph.id_bound()) {
    if (graph.has_codegen()) {
      tree_ = dynamic_cast<const PyTreeCodeGen*>(&graph.codegen());
      if (!tree_ || typeid(*tree_) != typeid(PyTreeCodeGen))
        throw UserError("[cpp_code] graph: its CodeGen has no C++ text");
    }
    for (const Node* node : graph.nodes().reversed())
      for (const Node* input : node->all_input_nodes())
        if (!dies_at_[input->id()]) dies_at_[input->id()] = node;
  }

  CppBody write() {
    if (tree_) {
      write_leaves();
    } else {
      for (const Node* node : graph_.nodes())
        if (node->is(Opcode::placeholder)) write_placeholder(*node);
    }
    bool returns = false;
    for (const Node* node : graph_.nodes()) {
      if (node->is(Opcode::placeholder)) continue;
      write_node(*node);
      returns = returns || node->is(Opcode::output);
    }
    if (!returns) out_ += "  return None;\n";
    body_.statements = std::move(out_);
    return std::move(body_);
  }

 private:
  void write_placeholder(const Node& node) {
    body_.parameters.push_back(
        (node.num_users() == 0 ? "[[maybe_unused]] Value " : "Value ") +
        names_.of(node));
    if (!body_.signature.empty()) body_.signature += ", ";
    body_.signature += "nn::ArgSpec(" + cpp_string(node.target_name());
    if (!node.args().empty()) {
      std::string text;
      check(node, append_cpp_typed(text, node.args()[0], names_));
      body_.signature += ", " + text;
    }
    body_.signature += ')';
  }

  // The function takes containers, the graph their leaves.
  void write_leaves() {
    const std::vector<NodePtr> leaves = graph_.placeholders();
    std::vector<std::string> variables;
    for (const Node* leaf : leaves) variables.push_back(names_.of(*leaf));
    std::string containers;
    for (const std::string& argument : tree_->orig_args()) {
      const size_t stars = argument.find_first_not_of('*');
      const std::string name = names_.unique(argument.substr(stars));
      body_.parameters.push_back("Value " + name);
      if (!body_.signature.empty()) body_.signature += ", ";
      body_.signature += "nn::ArgSpec(" + cpp_string(argument) + ")";
      containers += (containers.empty() ? "" : ", ") + name;
    }
    if (leaves.empty()) return;
    const std::string list = names_.unique("leaves");
    out_ += "  const ValueList " + list + " = fx::tree_flatten_spec(" +
            "Value::tuple({" + containers + "}), " + spec(tree_->in_spec()) +
            ");\n";
    for (size_t i = 0; i < leaves.size(); ++i)
      out_ += std::string(leaves[i]->num_users() == 0 ? "  [[maybe_unused]] "
                                                      : "  ") +
              "Value " + variables[i] + " = " + list + ".at(" +
              std::to_string(i) + ");\n";
  }

  std::string spec(const TreeSpec& tree) {
    std::string text;
    // Leaves are None: this has a text.
    append_cpp_typed(text, tree.shape(), names_);
    return "fx::TreeSpec(" + text + ")";
  }

  void write_result(const Node& node) {
    if (!tree_ || !tree_->out_spec()) {
      out_ += "return ";
      write_value(node, node.arg(0));
      out_ += ";\n";
      return;
    }
    const std::string result = names_.unique("result");
    out_ += "const Value " + result + " = ";
    write_value(node, node.arg(0));
    out_ += ";\n  return fx::tree_unflatten(" + result + ".is_sequence() ? " +
            result + ".as_sequence() : ValueList{" + result + "}, " +
            spec(*tree_->out_spec()) + ");\n";
  }

  void write_node(const Node& node) {
    out_ += "  ";
    if (node.is(Opcode::output)) return write_result(node);
    if (node.num_users() > 0) out_ += "Value " + names_.of(node) + " = ";
    write_call(node);
    out_ += ';';
    write_deletions(node);
    out_ += '\n';
  }

  void write_call(const Node& node) {
    switch (node.op()) {
      case Opcode::get_attr:
        return write_attribute(node);
      case Opcode::call_function:
        return write_function(node);
      case Opcode::call_method:
        out_ += "method(";
        write_value(node, node.arg(0));
        out_ += ", " + cpp_string(node.target_name());
        return write_arguments(node, 1);
      case Opcode::call_module:
        out_ += self_ + "get_submodule(" + cpp_string(node.target_name()) +
                ").call(";
        write_list(node, 0);
        return write_keywords(node);
      case Opcode::placeholder:
      case Opcode::output:
      case Opcode::root:
        return;
    }
  }

  // Branches and bodies of control flow.
  static bool names_module(const Node& node) {
    const GraphModule* const owner = node.graph().owning_module();
    return owner && owner->find_submodule(node.target_name());
  }

  void write_attribute(const Node& node) {
    const std::string_view path = node.target_name();
    if (names_module(node)) {
      out_ += "fx::module_value(nn::ModuleRef(" + self_ + "get_submodule(" +
              cpp_string(path) + ").shared_from_this()))";
      return;
    }
    const size_t dot = path.rfind('.');
    out_ += self_;
    if (dot != path.npos)
      out_ += "get_submodule(" + cpp_string(path.substr(0, dot)) + ").";
    out_ += "param(" +
            cpp_string(dot == path.npos ? path : path.substr(dot + 1)) + ")";
  }

  void write_function(const Node& node) {
    if (const auto format = operator_of(node); !format.empty()) {
      size_t arg = 0;
      for (size_t i = 0; i < format.size(); ++i) {
        if (format[i] != '{') {
          out_ += format[i];
          continue;
        }
        write_value(node, node.arg(arg++));
        ++i;
      }
      return;
    }
    const std::string_view name = node.target_name();
    out_ += ops::find_function(name) ? "function(" : "fx::call_by_name(";
    out_ += cpp_string(name);
    write_arguments(node, 0);
  }

  void write_arguments(const Node& node, size_t first) {
    out_ += ", ";
    write_list(node, first);
    write_keywords(node);
  }
  void write_list(const Node& node, size_t first) {
    out_ += '{';
    for (size_t i = first; i < node.args().size(); ++i) {
      if (i > first) out_ += ", ";
      check(node, append_cpp(out_, node.args()[i], names_));
    }
    out_ += '}';
  }
  void write_keywords(const Node& node) {
    if (!node.kwargs().empty()) {
      out_ += ", {";
      const char* separator = "";
      for (const auto& [key, value] : node.kwargs()) {
        out_ += separator;
        separator = ", ";
        out_ += "{" + cpp_string(key) + ", ";
        write_value(node, value);
        out_ += '}';
      }
      out_ += '}';
    }
    out_ += ')';
  }

  void write_value(const Node& node, const Value& value) {
    check(node, append_cpp_typed(out_, value, names_));
  }

  // Values not used any more are freed, as the Python code does.
  void write_deletions(const Node& node) {
    const char* separator = "  ";
    for (const Node* input : node.all_input_nodes()) {
      if (dies_at_[input->id()] != &node) continue;
      out_ += separator;
      separator = " = ";
      out_ += names_.of(*input);
    }
    if (std::string_view(separator) == " = ") out_ += " = None;";
  }

  static void check(const Node& node, bool written) {
    if (!written)
      throw UserError("[cpp_code %" + std::string(node.name()) +
                          "] argument: expected a value with a C++ text, got "
                          "a tensor or an opaque object",
                      node.error_context());
  }

  const Graph& graph_;
  const PyTreeCodeGen* tree_ = nullptr;  // The graph's, if it has one.
  const std::string self_;
  CppNames names_;
  CppBody body_;
  std::string out_;
  std::vector<const Node*> dies_at_;  // By node id: its last user.
};

}  // namespace

CppBody cpp_body(const Graph& graph, const std::string& self) {
  return BodyWriter(graph, self).write();
}

}  // namespace fxjit::fx
