// The printed texts of nodes and graphs: torch's, character for character.
#include <algorithm>
#include <array>

#include "fxjit/fx/graph.h"
#include "fxjit/fx/node.h"
#include "src/fx/text/print_value.h"

namespace fxjit::fx {
namespace {

void append_head(std::string& out, const Node& node) {
  out += '%';
  out += node.name();
  out += " : ";
  if (!node.type().is_none()) {
    append_str(out, node.type());
    out += ' ';
  }
  out += "[num_users=";
  append_int(out, static_cast<int64_t>(node.num_users()));
  out += "] = ";
  out += opcode_name(node.op());
  out += "[target=";
  constexpr std::string_view kOperators = "_operator.";
  std::string_view target = node.target_name();
  if (node.target().callable() && target.starts_with(kOperators))
    target.remove_prefix(1);
  out += target;
  out += ']';
}

// As Python's repr of the tuple and the dict, or as torch.fx prints arguments.
void append_arguments(std::string& out, const ValueList& args, bool as_repr) {
  out += '(';
  for (size_t i = 0; i < args.size(); ++i) {
    if (i) out += ", ";
    (as_repr ? append_repr : append_argument)(out, args[i]);
  }
  out += args.size() == 1 ? ",)" : ")";
}

void append_arguments(std::string& out, const Kwargs& kwargs, bool as_repr) {
  out += '{';
  for (size_t i = 0; i < kwargs.size(); ++i) {
    if (i) out += ", ";
    if (as_repr)
      append_repr(out, Value(kwargs[i].first));
    else
      out += kwargs[i].first;
    out += ": ";
    (as_repr ? append_repr : append_argument)(out, kwargs[i].second);
  }
  out += '}';
}

// str() of a target. Other functions print an address in Python.
std::string target_text(const Node& node) {
  const std::string_view text = node.target_name();
  if (node.target().callable())
    for (const std::string_view module :
         {"_operator.", "builtins.", "math.", "torch._C._nn."})
      if (text.starts_with(module))
        return "<built-in function " + std::string(text.substr(module.size())) +
               ">";
  return std::string(text);
}

// Counts the characters of a text in UTF-8.
size_t characters(const std::string& text) {
  return static_cast<size_t>(std::ranges::count_if(
      text, [](char byte) { return (byte & 0xc0) != 0x80; }));
}

}  // namespace

void Node::format_to(std::string& out) const {
  if (op_ == Opcode::output) {
    out += "return ";
    if (!args_.empty()) append_str(out, args_[0]);
    return;
  }
  append_head(out, *this);
  if (op_ == Opcode::get_attr) return;
  if (op_ == Opcode::placeholder) {
    if (args_.empty()) return;
    out += "(default=";
    append_str(out, args_[0]);
  } else {
    out += "(args = ";
    append_arguments(out, args_, /*as_repr=*/false);
    out += ", kwargs = ";
    append_arguments(out, kwargs_, /*as_repr=*/false);
  }
  out += ')';
}

std::string Node::format_node() const {
  std::string out;
  format_to(out);
  return out;
}

std::string Graph::str() const {
  constexpr size_t kTypicalLine = 110;
  std::string out;
  out.reserve(size_ * kTypicalLine);
  out += "graph():";
  for (const Node* node : nodes()) {
    out += "\n    ";
    node->format_to(out);
  }
  return out;
}

// The layout of Python's `tabulate`: columns as wide as their widest cell, two
// spaces between them, a rule of dashes below the headers.
std::string Graph::tabular() const {
  constexpr size_t kColumns = 5;
  using Row = std::array<std::string, kColumns>;
  std::vector<Row> rows = {{"opcode", "name", "target", "args", "kwargs"}};
  for (const Node* node : nodes()) {
    Row row;
    row[0] = opcode_name(node->op_);
    row[1] = node->name_;
    row[2] = target_text(*node);
    append_arguments(row[3], node->args_, /*as_repr=*/true);
    append_arguments(row[4], node->kwargs_, /*as_repr=*/true);
    rows.push_back(std::move(row));
  }
  std::array<size_t, kColumns> widths{};
  for (const Row& row : rows)
    for (size_t c = 0; c < kColumns; ++c)
      widths[c] = std::max(widths[c], characters(row[c]));
  // tabulate leaves two columns for the padding of a header.
  for (size_t c = 0; c < kColumns; ++c)
    widths[c] = std::max(widths[c], rows[0][c].size() + 2);
  std::string out;
  auto append_row = [&](const Row& row) {
    for (size_t c = 0; c < kColumns; ++c) {
      out += row[c];
      if (c + 1 < kColumns) out.append(widths[c] - characters(row[c]) + 2, ' ');
    }
    while (!out.empty() && out.back() == ' ') out.pop_back();
  };
  append_row(rows[0]);
  out += '\n';
  for (size_t c = 0; c < kColumns; ++c) {
    out.append(widths[c], '-');
    if (c + 1 < kColumns) out += "  ";
  }
  for (size_t r = 1; r < rows.size(); ++r) {
    out += '\n';
    append_row(rows[r]);
  }
  return out;
}

}  // namespace fxjit::fx
