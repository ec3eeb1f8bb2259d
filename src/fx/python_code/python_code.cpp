// Graph::python_code: the source that torch.fx would generate, character for
// character. One pass writes the lines of each node, another lays them out.
#include <algorithm>
#include <array>
#include <string_view>

#include "fxjit/fx/graph.h"
#include "src/fx/graph/graph_names.h"
#include "src/fx/python_code/body_transform.h"
#include "src/fx/python_code/code_comments.h"
#include "src/fx/python_code/code_names.h"
#include "src/fx/text/print_value.h"
#include "src/fx/tracing/builtins.h"
#include "src/tensor/dtype_words.h"

namespace fxjit::fx {
namespace {

struct OperatorText {
  std::string_view name;    // Without "_operator.".
  std::string_view format;  // "{}" stands for an argument.
};

constexpr OperatorText kMagic[] = {
    {"add", "{} + {}"},    {"and_", "{} & {}"},      {"div", "{} / {}"},
    {"eq", "{} == {}"},    {"floordiv", "{} // {}"}, {"ge", "{} >= {}"},
    {"getitem", "{}[{}]"}, {"gt", "{} > {}"},        {"invert", "~{}"},
    {"le", "{} <= {}"},    {"lshift", "{} << {}"},   {"lt", "{} < {}"},
    {"matmul", "{} @ {}"}, {"mod", "{} % {}"},       {"mul", "{} * {}"},
    {"ne", "{} != {}"},    {"neg", "-{}"},           {"or_", "{} | {}"},
    {"pos", "+{}"},        {"pow", "{} ** {}"},      {"rshift", "{} >> {}"},
    {"sub", "{} - {}"},    {"truediv", "{} / {}"},   {"xor", "{} ^ {}"},
};
constexpr OperatorText kInPlace[] = {
    {"iadd", "{} += {}"},       {"iand", "{} &= {}"},
    {"ifloordiv", "{} //= {}"}, {"ilshift", "{} <<= {}"},
    {"imatmul", "{} @= {}"},    {"imod", "{} %= {}"},
    {"imul", "{} *= {}"},       {"ior", "{} |= {}"},
    {"ipow", "{} **= {}"},      {"irshift", "{} >>= {}"},
    {"isub", "{} -= {}"},       {"itruediv", "{} /= {}"},
    {"ixor", "{} ^= {}"},       {"setitem", "{}[{}] = {}"},
};

// Names that generated code may use, and how to import them.
const std::array<std::pair<std::string, std::string>, 7> kBuiltinGlobals = {{
    {"inf", "from math import inf"},
    {"nan", "from math import nan"},
    {"NoneType", "NoneType = type(None)"},
    {"torch", "import torch"},
    {"device", "from torch import device"},
    {"fx_pytree", "import torch.fx._pytree as fx_pytree"},
    {"pytree", "import torch.utils._pytree as pytree"},
}};

template <size_t N>
std::string_view find_format(const OperatorText (&table)[N],
                             std::string_view name) {
  for (const OperatorText& entry : table)
    if (entry.name == name) return entry.format;
  return {};
}

// "a.b" after `base`; parts that are no identifiers go through getattr.
std::string format_target(std::string base, std::string_view target) {
  while (true) {
    const size_t dot = target.find('.');
    const std::string part(target.substr(0, dot));
    base = is_identifier(part) ? base + "." + part
                               : "getattr(" + base + ", \"" + part + "\")";
    if (dot == target.npos) return base;
    target.remove_prefix(dot + 1);
  }
}

std::string repr_of(const Value& value) {
  std::string text;
  append_code(text, value);
  return text;
}

class CodeWriter {
 public:
  CodeWriter(const Graph& graph, std::string_view root,
             const CodeOptions& options, const CodeNames* names = nullptr)
      : graph_(graph), root_(root), options_(options), names_(names) {
    for (const auto& entry : kBuiltinGlobals) code_.globals.push_back(entry);
  }

  PythonCode write() {
    find_last_uses();
    int index = 0;
    for (const Node* node : graph_.nodes()) {
      if (options_.verbose) write_summary(*node);
      line_starts_.emplace_back(body_.size(), index++);
      write_node(*node);
      write_deletions(*node);
    }
    if (index == 0) body_ += "pass\n";
    if (graph_.body_transform())
      body_ = transform_body(body_, &line_starts_, graph_.body_transform());
    lay_out();
    return std::move(code_);
  }

 private:
  void find_last_uses() {
    dies_at_.resize(graph_.id_bound());
    for (const Node* node : graph_.nodes().reversed())
      for (const Node* input : node->all_input_nodes())
        if (!dies_at_[input->id()]) dies_at_[input->id()] = node;
  }

  // --- Parts of lines. ---
  std::string annotation(const Node& node) const {
    if (options_.verbose && node.val().is_tensor())
      return ": \"" + tensor_annotation(node.val().as_tensor()) + "\"";
    if (node.type().is_none()) return "";
    std::string text = " : ";
    append_str(text, node.type());
    return text;
  }
  std::string tensor_annotation(const Tensor& tensor) const {
    std::string text(dtype_words(tensor.dtype()).brief);
    text += tensor.sizes().str();
    if (options_.include_stride) text += tensor.strides().str();
    if (options_.include_device) text += "cpu";
    return text;
  }
  void begin_assignment(const Node& node) {
    body_ += node.name();
    if (options_.verbose || !node.type().is_none()) body_ += annotation(node);
    body_ += " = ";
  }
  void write_arguments(const Node& node, size_t first) {
    body_ += '(';
    bool comma = false;
    for (size_t i = first; i < node.args().size(); ++i) {
      if (comma) body_ += ", ";
      comma = true;
      append_code(body_, node.args()[i]);
    }
    for (const auto& [key, value] : node.kwargs()) {
      if (comma) body_ += ", ";
      comma = true;
      body_ += key;
      body_ += " = ";
      append_code(body_, value);
    }
    body_ += ')';
  }
  void write_format(std::string_view format, const Node& node) {
    size_t arg = 0;
    for (size_t i = 0; i < format.size(); ++i) {
      if (format[i] != '{') {
        body_ += format[i];
        continue;
      }
      append_code(body_, node.arg(arg++));
      ++i;
    }
  }

  // --- Nodes. ---
  void write_node(const Node& node) {
    switch (node.op()) {
      case Opcode::placeholder:
        return write_placeholder(node);
      case Opcode::call_method:
        begin_assignment(node);
        body_ += format_target(repr_of(node.arg(0)), node.target_name());
        return write_arguments(node, 1);
      case Opcode::call_function:
        return write_function(node);
      case Opcode::call_module:
        begin_assignment(node);
        body_ += format_target(root_, node.target_name());
        return write_arguments(node, 0);
      case Opcode::get_attr:
        begin_assignment(node);
        body_ += format_target(root_, node.target_name());
        return;
      case Opcode::output:
        if (!node.type().is_none()) {
          return_annotation_ = " -> ";
          append_str(return_annotation_, node.type());
        }
        body_ += graph_.codegen().generate_output(repr_of(node.arg(0)));
        return;
      case Opcode::root:
        return;
    }
  }

  void write_placeholder(const Node& node) {
    std::string variable(node.target_name());
    std::string raw = variable;
    std::erase(raw, '*');
    variable += annotation(node);
    if (!node.args().empty()) variable += " = " + repr_of(node.args()[0]);
    free_vars_.push_back(std::move(variable));
    if (raw != node.name()) {
      body_ += node.name();
      body_ += " = " + raw + "\n";
    }
  }

  void write_function(const Node& node) {
    std::string_view name = node.target_name();
    constexpr std::string_view kOperators = "_operator.";
    if (name.starts_with(kOperators)) {
      const std::string_view bare = name.substr(kOperators.size());
      if (const auto format = find_format(kMagic, bare); !format.empty()) {
        begin_assignment(node);
        return write_format(format, node);
      }
      if (const auto format = find_format(kInPlace, bare); !format.empty()) {
        write_format(format, node);
        body_ += ";  ";
        begin_assignment(node);
        return append_code(body_, node.arg(0));
      }
    }
    begin_assignment(node);
    if (node.target() == targets().getattr && node.args().size() == 2 &&
        node.args()[1].is_string() &&
        is_identifier(node.args()[1].as_string())) {
      body_ +=
          format_target(repr_of(node.args()[0]), node.args()[1].as_string());
      return;
    }
    const std::string global = global_name(name);
    body_ += global;
    write_arguments(node, 0);
    const Value* const wrapped = node.meta().find("is_wrapped");
    if (wrapped && static_cast<bool>(*wrapped) &&
        std::find(wrapped_.begin(), wrapped_.end(), global) == wrapped_.end())
      wrapped_.push_back(global);
  }

  // What generated code calls a function, which becomes a global of the code.
  std::string global_name(std::string_view qualified) {
    std::string name = global_hint(qualified);
    if (has_fixed_name(qualified)) return name;
    if (names_) name = names_->globals.at(name);
    const bool known =
        std::any_of(code_.globals.begin(), code_.globals.end(),
                    [&](const auto& entry) { return entry.first == name; });
    if (known) return name;
    const size_t dot = qualified.rfind('.');
    std::string import;
    if (dot != qualified.npos)
      import = "from " + std::string(qualified.substr(0, dot)) + " import " +
               std::string(qualified.substr(dot + 1)) + " as " + name;
    code_.globals.emplace_back(name, std::move(import));
    return name;
  }

  // Values not used any more are set to None, so that they are freed.
  void write_deletions(const Node& node) {
    if (node.is(Opcode::placeholder)) return;
    if (node.is(Opcode::output)) {
      body_ += '\n';
      return;
    }
    bool any = false;
    auto add = [&](std::string_view name) {
      body_ += any ? " = " : ";  ";
      any = true;
      body_ += name;
    };
    for (const Node* input : node.all_input_nodes())
      if (dies_at_[input->id()] == &node) add(input->name());
    if (node.num_users() == 0) add(node.name());
    body_ += any ? " = None\n" : "\n";
  }

  void write_summary(const Node& node) {
    if (node.is(Opcode::placeholder) || node.is(Opcode::output)) return;
    std::string summary = "\n" + comment_of(node) + "\n";
    if (summary == previous_summary_) return;
    body_ += summary;
    previous_summary_ = std::move(summary);
  }

  // --- The whole. ---
  void lay_out() {
    const std::string prologue = graph_.codegen().gen_fn_def(
        free_vars_, return_annotation_, options_.expanded_def);
    std::string wraps;
    for (const std::string& name : wrapped_)
      wraps += (wraps.empty() ? "" : "\n") +
               ("torch.fx._symbolic_trace.wrap(\"" + name + "\")");
    for (auto& entry : graph_.codegen().additional_globals())
      code_.globals.push_back(std::move(entry));

    std::string& src = code_.src;
    src.reserve(body_.size() + body_.size() / 4 + 256);
    src = "\n" + wraps + "\n\n" + prologue + "\n";
    map_lines(1 + static_cast<size_t>(
                      std::count(prologue.begin(), prologue.end(), '\n')));
    size_t at = std::min(body_.find_first_not_of('\n'), body_.size());
    while (true) {
      const size_t end = std::min(body_.find('\n', at), body_.size());
      src += "    ";
      src.append(body_, at, end - at);
      if (end == body_.size()) return;
      src += '\n';
      at = end + 1;
    }
  }

  void map_lines(size_t prologue_lines) {
    code_.lineno_map.assign(prologue_lines, -1);
    size_t next = 0;
    int node = -1;
    for (size_t at = 0;;) {
      while (next < line_starts_.size() && line_starts_[next].first <= at)
        node = line_starts_[next++].second;
      code_.lineno_map.push_back(node);
      at = body_.find('\n', at);
      if (at == body_.npos) return;
      ++at;
    }
  }

  const Graph& graph_;
  const std::string root_;
  const CodeOptions& options_;
  const CodeNames* const names_;  // Null: as they are.
  PythonCode code_;
  std::string body_;
  std::vector<std::string> free_vars_;
  std::vector<std::string> wrapped_;
  std::string return_annotation_;
  std::string previous_summary_;
  std::vector<const Node*> dies_at_;  // By node id: its last user.
  LineStarts line_starts_;
};

}  // namespace

PythonCode Graph::python_code(std::string_view root_module,
                              const CodeOptions& options) const {
  PythonCode code = CodeWriter(*this, root_module, options).write();
  // Unless a name was forced, only functions that torch does not know clash.
  const bool may_clash = names_forced_ || names_->names.contains("None") ||
                         code.globals.size() > kBuiltinGlobals.size();
  if (!may_clash || !names_clash(*this, code.globals)) return code;
  const CodeNames names =
      rename_for_code(*this, {kBuiltinGlobals.begin(), kBuiltinGlobals.end()});
  return CodeWriter(*names.graph, root_module, options, &names).write();
}

}  // namespace fxjit::fx
