#include "fxjit/fx/text.h"

#include <unordered_map>

#include "src/fx/text/print_value.h"
#include "src/fx/text/text_values.h"

namespace fxjit::fx {
namespace {

// Shapes have a text, the numbers of a tensor have none.
bool is_shape_only(const Value& value) {
  bool shapes = true;
  visit_leaves(value, [&](const Value& leaf) {
    if (leaf.is_tensor() && !leaf.as_tensor().is_meta()) shapes = false;
  });
  return shapes;
}

class Writer {
 public:
  explicit Writer(const TextOptions& options) : options_(options) {}

  std::string write(const Graph& graph) {
    out_ = "graph {\n";
    for (const Node* node : graph.nodes()) write_node(*node);
    return std::move(out_) + "}\n";
  }

 private:
  void write_node(const Node& node) {
    if (options_.meta) write_stack(node);
    out_ += "  %";
    append_name_text(out_, node.name());
    if (!node.type().is_none()) {
      out_ += " : ";
      check(node, append_value_text(out_, node.type()), "type", node.type());
    }
    out_ += " = ";
    out_ += opcode_name(node.op());
    out_ += '[';
    append_name_text(out_, node.target_name());
    out_ += ']';
    write_arguments(node);
    if (!node.val().is_none()) {
      out_ += " -> ";
      check(node, append_result_text(out_, node.val()), "val", node.val());
    }
    if (options_.meta) write_meta(node);
    out_ += '\n';
  }

  void write_arguments(const Node& node) {
    if (node.args().empty() && node.kwargs().empty()) return;
    out_ += '(';
    const char* separator = "";
    for (const Value& arg : node.args()) {
      out_ += separator;
      separator = ", ";
      check(node, append_value_text(out_, arg), "argument", arg);
    }
    for (const auto& [key, arg] : node.kwargs()) {
      out_ += separator;
      separator = ", ";
      append_name_text(out_, key);
      out_ += '=';
      check(node, append_value_text(out_, arg), "argument", arg);
    }
    out_ += ')';
  }

  // A module stack stands before its first node.
  void write_stack(const Node& node) {
    const ModuleStack* const stack = node.module_stack().get();
    if (!stack || !stacks_.emplace(stack, stacks_.size()).second) return;
    out_ += "  $" + std::to_string(stacks_.size() - 1) + " =";
    for (const ModuleFrame& frame : *stack) {
      out_ += ' ';
      append_value_text(out_,
                        Value::tuple({frame.key, frame.path, frame.type}));
    }
    out_ += '\n';
  }

  void write_meta(const Node& node) {
    if (node.source().known()) {
      out_ += " @ ";
      append_repr(out_, Value(node.source().file));
      out_ += ' ';
      append_int(out_, node.source().line);
    }
    if (const ModuleStack* const stack = node.module_stack().get()) {
      out_ += " in $";
      append_int(out_, static_cast<int64_t>(stacks_.at(stack)));
    }
    if (node.meta().empty()) return;
    out_ += " with {";
    const char* separator = "";
    for (const auto& [key, value] : node.meta()) {
      out_ += separator;
      separator = ", ";
      append_repr(out_, Value(key));
      out_ += ": ";
      check(node, is_shape_only(value) && append_result_text(out_, value),
            "meta['" + key + "']", value);
    }
    out_ += '}';
  }

  static void check(const Node& node, bool written, const std::string& part,
                    const Value& value) {
    if (written) return;
    throw UserError("[text %" + std::string(node.name()) + "] " + part +
                        ": expected a value with a text, got " +
                        std::string(value.kind_name()),
                    node.error_context());
  }

  const TextOptions options_;
  std::string out_;
  std::unordered_map<const ModuleStack*, size_t> stacks_;
};

}  // namespace

std::string text(const Graph& graph, const TextOptions& options) {
  return Writer(options).write(graph);
}

}  // namespace fxjit::fx
