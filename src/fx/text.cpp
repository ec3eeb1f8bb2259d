#include "fxjit/fx/text.h"

#include "src/fx/print_value.h"

namespace fxjit::fx {
namespace {

bool is_plain(std::string_view target) {
  if (target.empty()) return false;
  for (char c : target)
    if (!is_identifier(std::string_view(&c, 1)) && (c < '0' || c > '9') &&
        c != '.' && c != '*')
      return false;
  return true;
}

class Writer {
 public:
  std::string write(const Graph& graph) {
    out_ = "graph {\n";
    for (const Node* node : graph.nodes()) write_node(*node);
    return std::move(out_) + "}\n";
  }

 private:
  void write_node(const Node& node) {
    node_ = &node;
    out_ += "  %";
    out_ += node.name();
    if (!node.type().is_none()) {
      out_ += " : ";
      write_value(node.type());
    }
    out_ += " = ";
    out_ += opcode_name(node.op());
    out_ += '[';
    if (is_plain(node.target_name())) {
      out_ += node.target_name();
    } else {
      append_repr(out_, Value(node.target_name()));
    }
    out_ += ']';
    write_arguments(node);
    if (!node.val().is_none()) {
      out_ += " -> ";
      write_val(node.val());
    }
    out_ += '\n';
  }

  void write_arguments(const Node& node) {
    if (node.args().empty() && node.kwargs().empty()) return;
    out_ += '(';
    bool comma = false;
    for (const Value& arg : node.args()) {
      if (comma) out_ += ", ";
      comma = true;
      write_value(arg);
    }
    for (const auto& [key, arg] : node.kwargs()) {
      if (comma) out_ += ", ";
      comma = true;
      out_ += key;
      out_ += '=';
      write_value(arg);
    }
    out_ += ')';
  }

  // An argument: containers here, leaves by their Python text.
  void write_value(const Value& value) {
    switch (value.kind()) {
      case Value::Kind::node:
        out_ += '%';
        out_ += value.as_node()->name();
        return;
      case Value::Kind::list:
      case Value::Kind::tuple:
        return write_sequence(value, &Writer::write_value);
      case Value::Kind::dict: {
        out_ += '{';
        const char* separator = "";
        for (const auto& [key, item] : value.as_dict()) {
          out_ += separator;
          separator = ", ";
          write_value(key);
          out_ += ": ";
          write_value(item);
        }
        out_ += '}';
        return;
      }
      case Value::Kind::slice: {
        const auto s = value.as_slice();
        out_ += "slice";
        return write_sequence(Value::tuple({s.start, s.stop, s.step}),
                              &Writer::write_value);
      }
      case Value::Kind::tensor:
      case Value::Kind::proxy:
      case Value::Kind::opaque:
        throw UserError("[text %" + std::string(node_->name()) +
                            "] argument: expected a value with a text, got " +
                            std::string(value.kind_name()),
                        node_->error_context());
      case Value::Kind::none:
      case Value::Kind::boolean:
      case Value::Kind::integer:
      case Value::Kind::floating:
      case Value::Kind::dtype:
      case Value::Kind::ellipsis:
      case Value::Kind::string:
      case Value::Kind::range:
        append_repr(out_, value);
        return;
    }
  }

  // An inferred value: tensors by type and shape.
  void write_val(const Value& value) {
    if (value.is_sequence()) return write_sequence(value, &Writer::write_val);
    if (!value.is_tensor()) return write_value(value);
    const Tensor& tensor = value.as_tensor();
    out_ += dtype_name(tensor.dtype());
    out_ += tensor.sizes().str();
    if (!tensor.is_contiguous()) {
      std::string strides = tensor.strides().str();
      strides.front() = '{';
      strides.back() = '}';
      out_ += strides;
    }
    if (tensor.offset() != 0) {
      out_ += '+';
      append_int(out_, tensor.offset());
    }
  }

  void write_sequence(const Value& value, void (Writer::*write)(const Value&)) {
    out_ += value.is_list() ? '[' : '(';
    const char* separator = "";
    for (const Value& item : value.as_sequence()) {
      out_ += separator;
      separator = ", ";
      (this->*write)(item);
    }
    if (value.is_tuple() && value.size() == 1) out_ += ',';
    out_ += value.is_list() ? ']' : ')';
  }

  std::string out_;
  const Node* node_ = nullptr;
};

}  // namespace

std::string text(const Graph& graph) { return Writer().write(graph); }

}  // namespace fxjit::fx
